/**
 * What works without being seen, or is seen as nothing: control characters, marks of direction, blanks without a width, tags,
 * separators of lines. Two joiners stay, which scripts and emoji are written with, and so do the signs of a script that are seen.
 */
export const UNSEEN =
  /(?![\u200c-\u200d\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;
