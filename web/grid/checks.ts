import type { RecordId } from '../../src/core/model.ts'
import type { Engine } from './engine.ts'
import type { CheckedRows } from './source.ts'
import { createStore } from './store.ts'

export const NO_ROWS: CheckedRows = { kind: 'some', ids: new Set() }

/** True where a record's box is ticked. */
export const isChecked = (checked: CheckedRows, id: RecordId): boolean =>
  checked.kind === 'some' ? checked.ids.has(id) : !checked.except.has(id)

/** How many of `rowCount` records are ticked. */
export const countChecked = (checked: CheckedRows, rowCount: number): number =>
  checked.kind === 'some' ? checked.ids.size : Math.max(0, rowCount - checked.except.size)

/** Ticks or unticks records. */
export function withChecked(checked: CheckedRows, ids: readonly RecordId[], on: boolean): CheckedRows {
  const listed = new Set(checked.kind === 'some' ? checked.ids : checked.except)
  for (const id of ids) {
    if (on === (checked.kind === 'some')) listed.add(id)
    else listed.delete(id)
  }
  return checked.kind === 'some' ? { kind: 'some', ids: listed } : { kind: 'all', except: listed }
}

/** The check boxes of the rows: one by one, in runs with Shift, and all at once. */
export class Checks {
  readonly checked = createStore<CheckedRows>(NO_ROWS)
  /** The row that was ticked last, where a run with Shift begins. */
  private lastRow: number | null = null

  constructor(private readonly engine: Engine) {
    this.checked.subscribe(() => engine.props.onCheckedChange?.(this.checked.get()))
  }

  clear(): void {
    this.lastRow = null
    this.checked.set(NO_ROWS)
  }

  /** Ticks these records and no others. */
  only(ids: readonly RecordId[]): void {
    this.lastRow = null
    this.checked.set({ kind: 'some', ids: new Set(ids) })
  }

  toggleAll(): void {
    this.lastRow = null
    const { rowCount } = this.engine.props.source
    const some = countChecked(this.checked.get(), rowCount ?? 1) > 0
    this.checked.set(some ? NO_ROWS : { kind: 'all', except: new Set() })
  }

  /** Ticks or unticks a row; with `run`, every row from the last one ticked up to it. */
  async toggle(row: number, run: boolean): Promise<void> {
    const record = this.engine.rowAt(row)
    if (!record) return
    const on = !isChecked(this.checked.get(), record.id)
    const from = run ? (this.lastRow ?? row) : row
    this.lastRow = row
    const ids = await this.idsBetween(Math.min(from, row), Math.max(from, row))
    this.checked.set(withChecked(this.checked.get(), ids, on))
  }

  private async idsBetween(first: number, last: number): Promise<RecordId[]> {
    const { source } = this.engine.props
    const ids: RecordId[] = []
    for (let row = first; row <= last; row++) {
      const id = source.getRow(row)?.id
      if (id === undefined)
        return (await source.readRange({ first, last, fieldIds: [] })).map((each) => each.id)
      ids.push(id)
    }
    return ids
  }
}
