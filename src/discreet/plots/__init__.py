"""Charts as SVG text: lines, bars, scatter and partitions, drawn by matplotlib (the extra ``plots``)."""
