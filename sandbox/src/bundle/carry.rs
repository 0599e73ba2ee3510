//! How bundles and records travel. The caller holds in memory what it reads, so its sum is limited, and the smallest are
//! carried. Pure.

use crate::wire::capture::{Carry, CarryLimits};

/// How each bundle of these sizes travels. `large` is how those travel that the caller cannot hold.
pub(crate) fn carry_bundles(sizes: &[u64], large: Carry, limits: &CarryLimits) -> Vec<Carry> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    if sizes.iter().sum::<u64>() > limits.carry_bytes {
        order.sort_by_key(|at| sizes[*at]);
    }
    let mut is_carried = vec![false; sizes.len()];
    let mut total = 0;
    for at in order {
        if total + sizes[at] <= limits.carry_bytes {
            is_carried[at] = true;
            total += sizes[at];
        }
    }
    let carried = if total > limits.inline_bytes {
        Carry::File
    } else {
        Carry::Inline
    };
    is_carried
        .into_iter()
        .map(|is_carried| if is_carried { carried } else { large })
        .collect()
}

/// A record: which of the given ones, its size as it is sent, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) at: usize,
    pub(crate) size: u64,
    pub(crate) carry: Carry,
}

/// What is sent of records of these sizes, the smallest first. All together are limited: each large one is cut to its
/// share. They travel in the answer while there is room, unless the bundles are in a file.
pub(crate) fn share_records(sizes: &[u64], is_filed: bool, limits: &CarryLimits) -> Vec<Share> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    let (mut left, mut total) = (limits.records_bytes, 0);
    let mut carry = if is_filed { Carry::File } else { Carry::Inline };
    let mut shares = Vec::with_capacity(order.len());
    for (number, at) in order.iter().copied().enumerate() {
        let share = left / (order.len() - number) as u64;
        let size = sizes[at].min(share.min(limits.record_bytes));
        left -= size;
        total += size;
        if total > limits.inline_bytes {
            carry = Carry::File;
        }
        shares.push(Share { at, size, carry });
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: CarryLimits = CarryLimits {
        inline_bytes: 100,
        carry_bytes: 1_000,
        upload_wait_seconds: 1,
        record_bytes: 50,
        records_bytes: 120,
    };

    #[test]
    fn few_bytes_travel_in_the_answer_more_in_a_file_and_the_largest_are_uploaded() {
        assert_eq!(
            carry_bundles(&[60, 40], Carry::Upload, &LIMITS),
            [Carry::Inline; 2]
        );
        assert_eq!(carry_bundles(&[61, 40], Carry::Upload, &LIMITS), [Carry::File; 2]);
        assert_eq!(
            carry_bundles(&[990, 60, 5_000, 20], Carry::Upload, &LIMITS),
            [Carry::Upload, Carry::Inline, Carry::Upload, Carry::Inline]
        );
        assert_eq!(
            carry_bundles(&[5_000, 20], Carry::Stream, &LIMITS),
            [Carry::Stream, Carry::Inline]
        );
    }

    #[test]
    fn what_a_small_record_leaves_is_shared_by_the_large_ones() {
        let shares = share_records(&[90, 10, 200], false, &LIMITS);
        let sizes: Vec<(usize, u64)> = shares.iter().map(|share| (share.at, share.size)).collect();
        assert_eq!(sizes, [(1, 10), (0, 50), (2, 50)]);
        assert_eq!(shares[2].carry, Carry::File);
    }

    proptest! {
        #[test]
        fn nobody_is_given_more_than_was_allowed(sizes in proptest::collection::vec(0_u64..2_000, 0..12)) {
            let carries = carry_bundles(&sizes, Carry::Upload, &LIMITS);
            let carried: u64 = sizes.iter().zip(&carries).filter(|(_, carry)| **carry != Carry::Upload).map(|(size, _)| size).sum();
            prop_assert!(carried <= LIMITS.carry_bytes);
            prop_assert!(carried <= LIMITS.inline_bytes || !carries.contains(&Carry::Inline));
            let shared: u64 = share_records(&sizes, false, &LIMITS).iter().map(|share| share.size).sum();
            prop_assert!(shared <= LIMITS.records_bytes);
        }
    }
}
