// Bands of class sizes for plots.

const STEPS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];

/** Count rows by bands of class sizes: `{size: classes}` → `[{label, count}]`. */
export function sizeBands(sizes) {
  const rows = STEPS.map(() => 0);
  for (const [size, classes] of Object.entries(sizes)) {
    const place = STEPS.findLastIndex((least) => Number(size) >= least);
    rows[place] += Number(size) * classes;
  }
  const first = Math.max(
    0,
    rows.findIndex((each) => each > 0),
  );
  const last = Math.max(
    first,
    rows.findLastIndex((each) => each > 0),
  );
  return STEPS.slice(first, last + 1).map((least, place) => {
    const next = STEPS[first + place + 1];
    const label = next === undefined ? `${least}+` : next - 1 === least ? `${least}` : `${least}–${next - 1}`;
    return { label, count: rows[first + place] };
  });
}
