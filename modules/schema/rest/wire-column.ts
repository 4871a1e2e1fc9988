/** A column as a REST client sends it; whatever else is in the object is of no matter. */
export type WireColumn = Record<string, unknown>
