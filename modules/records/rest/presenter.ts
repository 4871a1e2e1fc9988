/** Turns rows of the database into answers, in place. */
export type Presenter = (rows: Row[]) => Promise<void>

/** A record as clients get it, by the titles of its fields. */
export type Row = Record<string, unknown>
