/**
 * Interfaces of the web that need nothing of the host. Runs once in a new engine after index.ts, as a script of its own: the
 * memory that the engine takes to compile one script serves for the next, so that the base image is a fifth smaller.
 */
import { installAbort } from "./abort.js";
import { installEncoding } from "./encoding.js";
import { installFromAsync } from "./from-async.js";
import { installSearchParams } from "./search-params.js";
import { installUrl } from "./url.js";

installAbort();
installEncoding();
installFromAsync();
installSearchParams();
installUrl();
