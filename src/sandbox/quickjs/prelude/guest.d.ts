declare module "*?guest" {
  /** The bundled source of the guest module. */
  const source: string;
  export default source;
}
