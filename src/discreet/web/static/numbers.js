// Ranges of numbers.

/** Return the integers from `first` to `last`. */
export function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
