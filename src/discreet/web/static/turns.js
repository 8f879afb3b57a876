// Order among questions and savings that overlap.

/**
 * Of a burst of questions only the last one's answer is wanted: `const turn = latest()`, `const isLast = turn()` before
 * a question, and `isLast()` once it is answered.
 */
export function latest() {
  let last = 0;
  return () => {
    last += 1;
    const mine = last;
    return () => mine === last;
  };
}

/** Tasks one after the other: each begins once those given before it are done. */
export function inTurn() {
  let before = Promise.resolve();
  return (task) => {
    before = before.then(task);
    return before;
  };
}
