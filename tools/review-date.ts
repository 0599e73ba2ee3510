/** All tools and templates that come with Walkback are looked at again before this day, or sooner when what they use changes. */
export const REVIEW_BY = '2027-05-31';
