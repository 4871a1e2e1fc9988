import type { RecordId } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import type { CheckedRows, GridCommands, GridProps, GridRights, GridRow } from './contract.ts'
import { createStore } from './store.ts'

export const NO_ROWS: CheckedRows = { kind: 'some', ids: new Set() }

/** True if records can be checked, to edit or delete them. */
export const mayCheck = ({ editRecords, deleteRecords }: GridRights): boolean => editRecords || deleteRecords

/** True if the record's box is checked. */
export const isChecked = (checked: CheckedRows, id: RecordId): boolean =>
  checked.kind === 'some' ? checked.ids.has(id) : !checked.except.has(id)

/** Number of checked records among `rowCount`. */
export const countChecked = (checked: CheckedRows, rowCount: number): number =>
  checked.kind === 'some' ? checked.ids.size : Math.max(0, rowCount - checked.except.size)

/** Checks or unchecks records. */
export function withChecked(checked: CheckedRows, ids: readonly RecordId[], on: boolean): CheckedRows {
  const listed = new Set(checked.kind === 'some' ? checked.ids : checked.except)
  for (const id of ids) {
    if (on === (checked.kind === 'some')) listed.add(id)
    else listed.delete(id)
  }
  return checked.kind === 'some' ? { kind: 'some', ids: listed } : { kind: 'all', except: listed }
}

/** The part of the engine check boxes need. */
interface CheckedGrid {
  readonly props: GridProps
  readonly commands: GridCommands
  rowAt(index: number): GridRow | undefined
}

/** Check boxes of rows: one by one, in runs with Shift, or all at once. */
export class Checks {
  readonly checked = createStore<CheckedRows>(NO_ROWS)
  /** The record checked last, which starts a run with Shift. */
  private lastId: RecordId | null = null
  private lookup: AbortController | null = null

  constructor(private readonly engine: CheckedGrid) {
    this.checked.subscribe(() => engine.props.onCheckedChange?.(this.checked.get()))
  }

  clear(): void {
    this.lastId = null
    this.checked.set(NO_ROWS)
  }

  /** Checks these records only. */
  only(ids: readonly RecordId[]): void {
    this.lastId = null
    this.checked.set({ kind: 'some', ids: new Set(ids) })
  }

  toggleAll(): void {
    this.lastId = null
    const { rowCount } = this.engine.props.source
    const some = countChecked(this.checked.get(), rowCount ?? 1) > 0
    this.checked.set(some ? NO_ROWS : { kind: 'all', except: new Set() })
  }

  /** Toggles a row; with `run`, sets every row from the last one toggled to it. */
  async toggle(row: number, run: boolean): Promise<void> {
    const record = this.engine.rowAt(row)
    if (!record) return
    const on = !isChecked(this.checked.get(), record.id)
    const last = run && this.lastId !== null ? this.engine.props.source.indexOf(this.lastId) : undefined
    const from = last ?? row
    this.lastId = record.id
    const ids = await this.idsBetween(Math.min(from, row), Math.max(from, row))
    this.checked.set(withChecked(this.checked.get(), ids, on))
  }

  /** `toggle` for event handlers: reports failed reads. */
  toggleOrReport(row: number, run: boolean): void {
    this.toggle(row, run).catch(() =>
      this.engine.commands.notify(m.grid_these_records_load_failed(), 'error'),
    )
  }

  /** Unchecks records that left the view. */
  follow(): void {
    this.lookup?.abort()
    const { source } = this.engine.props
    const checked = this.checked.get()
    if (checked.kind === 'all') return
    const unseen = [...checked.ids].filter((id) => source.indexOf(id) === undefined)
    if (unseen.length > 0) void this.dropAbsent(unseen)
  }

  private async dropAbsent(ids: readonly RecordId[]): Promise<void> {
    const lookup = new AbortController()
    this.lookup = lookup
    try {
      const located = await this.engine.props.source.locate(ids, lookup.signal)
      if (lookup.signal.aborted) return
      const gone = ids.filter((id) => !located.has(id))
      if (gone.length > 0) this.checked.set(withChecked(this.checked.get(), gone, false))
    } catch (error) {
      if (!lookup.signal.aborted) console.warn('the ticked records could not be found', error)
    }
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
