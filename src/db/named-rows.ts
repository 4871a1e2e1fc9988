/** Rows as arrays, with the names of their columns. */
export interface NamedRows {
  names: string[]
  rows: unknown[][]
}

/** The rows as objects. */
export const asObjects = <T>({ names, rows }: NamedRows): T[] =>
  rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = values[at]
    return row as T
  })
