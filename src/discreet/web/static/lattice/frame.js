// Frames of the negotiation's socket (discreet.web.lattice_frames): a header as JSON, and arrays after it.

import { setConnectionState } from "../api.js";

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

/** Return the header of a frame, with its arrays under `arrays`. */
function readFrame(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const base = 4 + length;
  const arrays = {};
  for (const [name, [at, bytes, kind]] of Object.entries(header.arrays)) {
    const Kind = KINDS[kind];
    arrays[name] = new Kind(buffer, base + at, bytes / Kind.BYTES_PER_ELEMENT);
  }
  header.arrays = arrays;
  return header;
}

/**
 * The socket of moves. One move is pending at a time; of the moves made meanwhile only the newest is sent when the
 * answer arrives. So a burst of moves ends with the last state on screen, even with slow answers.
 */
export class MoveSocket {
  constructor(path, { onAnswer, onState = () => {} }) {
    this.path = path;
    this.onAnswer = onAnswer;
    this.onState = onState;
    this.number = 0;
    this.underway = null;
    this.waiting = null;
    this.pause = 250;
    this.closed = false;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}${this.path}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.pause = 250;
      this.onState(true);
      const again = this.waiting ?? this.underway;
      this.underway = null;
      this.waiting = null;
      if (again) this.send(again);
    });
    socket.addEventListener("message", (event) => {
      const answer = readFrame(event.data);
      this.underway = null;
      const next = this.waiting;
      this.waiting = null;
      if (next) this.send(next);
      this.onAnswer(answer, next === null);
    });
    socket.addEventListener("close", () => {
      if (this.closed) return;
      this.onState(false);
      setConnectionState("gone");
      this.timer = setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(5000, this.pause * 2);
    });
    this.socket = socket;
  }

  /** Send a move; return its number. */
  send(move) {
    if (this.underway || this.socket.readyState !== WebSocket.OPEN) {
      this.waiting = move;
      return;
    }
    this.number += 1;
    this.underway = move;
    this.socket.send(JSON.stringify({ ...move, id: this.number }));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
