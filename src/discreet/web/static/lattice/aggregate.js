// Summary of a cell with several nodes: the share of nodes that meet the request, else their suppression.

/**
 * Return the cell's colour key from the places `first` to `last` (excluded): `{meets, inside, suppressed}`. With one
 * node it is the node's own. With several, `meets` is 3 or 2 if at least half of them meet the request, and 2.5 if
 * fewer but some do; `suppressed` is the mean.
 */
export function summary(nodes, first, last) {
  if (last - first === 1)
    return { meets: nodes.meets[first], inside: nodes.inside[first], suppressed: nodes.suppressed[first], share: 1 };
  let meeting = 0;
  let lowest = 0;
  let limit = 0;
  let inside = 0;
  let sum = 0;
  for (let place = first; place < last; place += 1) {
    const kind = nodes.meets[place];
    if (kind >= 2) meeting += 1;
    if (kind === 3) lowest += 1;
    if (kind === 1) limit += 1;
    inside += nodes.inside[place];
    sum += nodes.suppressed[place];
  }
  const number = last - first;
  const mean = sum / number;
  if (meeting > 0) return { meets: lowest > 0 ? 3 : 2, inside: 1, suppressed: mean, share: meeting / number };
  return { meets: 2 * limit >= number ? 1 : 0, inside: 2 * inside >= number ? 1 : 0, suppressed: mean, share: 0 };
}

/** Return the least and most suppressed rows of a cell, and how many of its nodes meet the request. */
export function range(nodes, first, last) {
  let least = Infinity;
  let most = 0;
  let meeting = 0;
  for (let place = first; place < last; place += 1) {
    least = Math.min(least, nodes.suppressed[place]);
    most = Math.max(most, nodes.suppressed[place]);
    if (nodes.meets[place] >= 2) meeting += 1;
  }
  return { least, most, meeting, number: last - first };
}
