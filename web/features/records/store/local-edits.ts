import type { Values } from '../../../../src/core/changes.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../../src/core/model.ts'

/** A value as the person left it, which the server has not confirmed. */
export interface LocalCell {
  value: CellValue
  /** Number of the change that wrote it: a later one is not undone by the answer to an earlier one. */
  change: number
  /** Why the server refused it; null while it is on its way. */
  message: string | null
}

/** The local values of one record, by field id. */
export type LocalCells = ReadonlyMap<string, LocalCell>

export type LocalEdits = ReturnType<typeof createLocalEdits>

/** Values that lie over what the server holds: shown at once, then confirmed, or refused and kept in red. */
export function createLocalEdits() {
  const records = new Map<RecordId, LocalCells>()

  /** Each record's map is replaced, never altered: rows that were drawn keep what they were given. */
  function alter(id: RecordId, change: (cells: Map<string, LocalCell>) => void): boolean {
    const before = records.get(id)
    const cells = new Map(before)
    change(cells)
    if (cells.size === 0) records.delete(id)
    else records.set(id, cells)
    return before !== undefined || cells.size > 0
  }

  return {
    cellsOf: (id: RecordId): LocalCells | undefined => records.get(id),

    has: (id: RecordId): boolean => records.has(id),

    /** Lays values over a record, on behalf of a change. */
    write(change: number, id: RecordId, values: Values): void {
      alter(id, (cells) => {
        for (const [fieldId, value] of Object.entries(values))
          cells.set(fieldId, { value, change, message: null })
      })
    },

    /** The change is stored: its values need no cover any more. True where the record looks different now. */
    settle(change: number, id: RecordId): boolean {
      return alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.change === change) cells.delete(fieldId)
      })
    },

    /** The change was refused: its values stay where they are, each with its reason. */
    refuse(change: number, id: RecordId, reason: (fieldId: string) => string): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) {
          if (cell.change === change) cells.set(fieldId, { ...cell, message: reason(fieldId) })
        }
      })
    },

    /** The values of a record that were refused, to send again. */
    refused(id: RecordId): Values {
      const cells = [...(records.get(id) ?? [])].filter(([, cell]) => cell.message !== null)
      return Object.fromEntries(cells.map(([fieldId, cell]) => [fieldId, cell.value]))
    },

    /** Gives up the values of a record that were refused. */
    discard(id: RecordId): void {
      alter(id, (cells) => {
        for (const [fieldId, cell] of cells) if (cell.message !== null) cells.delete(fieldId)
      })
    },

    /** Every record with refused values, to keep them when the view is left. */
    allRefused: (): [RecordId, LocalCells][] =>
      [...records].flatMap(([id, cells]): [RecordId, LocalCells][] => {
        const refused = [...cells].filter(([, cell]) => cell.message !== null)
        return refused.length > 0 ? [[id, new Map(refused)]] : []
      }),

    /** Takes over what `allRefused` gave. */
    adopt(refused: readonly [RecordId, LocalCells][]): void {
      for (const [id, cells] of refused) records.set(id, cells)
    },

    rename(from: RecordId, to: RecordId): void {
      const cells = records.get(from)
      if (!cells) return
      records.delete(from)
      records.set(to, cells)
    },
  }
}
