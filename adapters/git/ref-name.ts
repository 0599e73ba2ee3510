/** Colons and dots mean something in a ref name; ids may contain them. */
export const refName = (id: string): string => id.replaceAll(':', '%3A').replaceAll('.', '%2E');
