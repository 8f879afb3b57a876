// Marks over the nodes: the answer, the line from the sentence to it, the offers with their numbers, the node shown in
// detail, and the one under the pointer.

import { DISC, discRadius, point } from "./draw.js";

const NUMBER = 8; // radius of an offer's number
const DOT = 7; // radius of the answer

/** Paint the marks; `marks.at` is the position of the answer while it moves to its node. */
export function drawMarks(canvas, layout, nodes, scale, view, ratio, marks) {
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const high = canvas.height / ratio; // clientHeight would force a layout during a move
  pen.clearRect(0, 0, canvas.width / ratio, high);
  const where = (place) => point(layout, nodes, view, place);
  const large = layout.size * view.scale >= DISC;
  const radius = large ? discRadius(layout, view) + 3 : DOT;
  if (nodes.count < nodes.all) drawUnknown(pen, layout, view, scale);
  const answer = marks.at ?? (marks.answer >= 0 ? where(marks.answer) : null);
  // A node with room for its label keeps it clear: curves end at its rim, and numbers are placed there.
  const offers = placed(marks.offers, where, large ? radius + 9 : 12, answer, large);
  pen.lineCap = "round";
  if (answer) {
    if (marks.from && view.scale === 1) lead(pen, scale, marks.from, answer, radius, high);
    for (const offer of offers) curve(pen, scale, ...(large ? rims(answer, offer.node, radius) : [answer, offer.node]));
  }
  if (marks.old) ring(pen, marks.old, radius - 1, scale.answer, scale.paper, 1.5);
  if (answer) (marks.isAnswer ? disc : hollow)(pen, answer, radius, scale, large);
  for (const offer of offers) numbered(pen, scale, offer, large);
  if (marks.chosen >= 0 && marks.chosen !== marks.answer)
    ring(pen, where(marks.chosen), radius, scale.ink, scale.paper, 2);
  if (marks.hovered >= 0) ring(pen, where(marks.hovered), radius - 1, scale.ink, scale.paper, 1.5);
}

/** Draw rows with nodes that are not evaluated as hairlines of their true width. */
function drawUnknown(pen, layout, view, scale) {
  pen.strokeStyle = scale.hatch;
  pen.lineWidth = 1;
  for (let h = 0; h < layout.bands; h += 1) {
    const [left, top, wide, high] = layout.box(h);
    pen.strokeRect(left * view.scale + view.x, top * view.scale + view.y, wide * view.scale, high * view.scale);
  }
}

/** Draw a thin line from the sentence, down and across, to its node. */
function lead(pen, scale, [x, y], [toX, toY], radius, high) {
  if (toY < y + 6 || toY > high - 140) return; // it is next to the sentence, or the figures
  pen.strokeStyle = scale.answer;
  pen.lineWidth = 1.2;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x, toY);
  pen.lineTo(toX - radius - 3, toY);
  pen.stroke();
}

/** Return positions of the offers' numbers near their nodes, apart from each other and from the answer. */
function placed(offers, where, reach, answer, isShifted) {
  const taken = answer ? [answer] : [];
  return offers.map((offer) => {
    const node = where(offer.place);
    let spot = node;
    for (let turn = isShifted ? 1 : 0; turn < 24; turn += 1) {
      const far = turn < 12 ? 0.9 * reach : 1.8 * reach;
      const angle = Math.PI * (0.75 + turn / 6);
      spot = turn === 0 ? node : [node[0] + far * Math.cos(angle), node[1] + far * Math.sin(angle)];
      if (taken.every(([x, y]) => Math.hypot(x - spot[0], y - spot[1]) >= 2 * NUMBER + 3)) break;
    }
    taken.push(spot);
    return { ...offer, node, spot };
  });
}

/** Return the nearest points of two rims. */
function rims([x, y], [toX, toY], radius) {
  const far = Math.hypot(toX - x, toY - y);
  if (far <= 2 * radius)
    return [
      [x, y],
      [x, y],
    ];
  const [dx, dy] = [((toX - x) * radius) / far, ((toY - y) * radius) / far];
  return [
    [x + dx, y + dy],
    [toX - dx, toY - dy],
  ];
}

function curve(pen, scale, [x, y], [toX, toY]) {
  if (Math.hypot(toX - x, toY - y) < 4) return;
  pen.strokeStyle = scale.paper;
  pen.lineWidth = 3.5;
  for (let turn = 0; turn < 2; turn += 1) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.bezierCurveTo(x + (toX - x) * 0.5, y, toX - (toX - x) * 0.4, toY, toX, toY);
    pen.stroke();
    pen.strokeStyle = scale.answer;
    pen.lineWidth = 1.4;
  }
}

function numbered(pen, scale, { number, spot, node }, isShifted) {
  if (!isShifted && Math.hypot(spot[0] - node[0], spot[1] - node[1]) > 2) {
    pen.strokeStyle = scale.answer;
    pen.lineWidth = 1.2;
    pen.beginPath();
    pen.moveTo(...node);
    pen.lineTo(...spot);
    pen.stroke();
  }
  round(pen, spot, NUMBER + 1.5, scale.paper);
  round(pen, spot, NUMBER, scale.answer);
  round(pen, spot, NUMBER - 1.4, scale.paper);
  pen.fillStyle = scale.answer;
  pen.font = `700 10px ${scale.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(String(number), spot[0], spot[1] + 0.5);
}

function disc(pen, at, radius, scale, large) {
  if (large) {
    ring(pen, at, radius, scale.answer, scale.paper, 3);
    return;
  }
  round(pen, at, radius + 3, scale.paper);
  round(pen, at, radius, scale.answer);
}

function hollow(pen, at, radius, scale) {
  ring(pen, at, radius, scale.answer, scale.paper, 2.5);
}

function ring(pen, [x, y], radius, colour, halo, width) {
  for (const [stroke, thick] of [
    [halo, width + 3],
    [colour, width],
  ]) {
    pen.strokeStyle = stroke;
    pen.lineWidth = thick;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.stroke();
  }
}

function round(pen, [x, y], radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fill();
}
