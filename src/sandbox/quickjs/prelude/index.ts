/**
 * The guest's side of the bridge. Runs once in a new engine, before the base image is taken; every script starts from
 * the state it leaves. See ../../values/intrinsics.ts for the rules of code that runs in here.
 */
import { defineProperty } from "../../values/intrinsics.js";
import { guestApi } from "./run.js";
import { installGlobals } from "./globals.js";

installGlobals();
defineProperty(globalThis, "__prelude", { value: guestApi, configurable: true });
