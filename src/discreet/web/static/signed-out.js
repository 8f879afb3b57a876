import { goOnIfSignedIn } from "./signed-in.js";

goOnIfSignedIn();
