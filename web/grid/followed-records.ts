import type { RecordId } from '../../src/core/model.ts'
import type { ResolvedColumn } from './columns.ts'
import type { GridProps, GridRow } from './contract.ts'
import type { Span } from './layout.ts'
import type { GridSize, RangeKind } from './selection.ts'
import {
  activeCell,
  allBounds,
  type CellPosition,
  clampCell,
  type Range,
  type Selection,
} from './selection.ts'
import type { Store } from './store.ts'

/** Maximum rows tracked individually; of larger ranges, both ends and the active cell are tracked. */
const MAX_ROWS = 5_000

/** Maximum ranges after records move apart; beyond it only the active cell stays selected. */
const MAX_RANGES = 500

/** Records and fields that a range covers. */
interface NotedRange {
  range: Range
  /** Individually tracked rows; null if there are too many, or some were never loaded. */
  rows: readonly number[] | null
  /** Fields at the two corners. */
  anchorField: string | undefined
  focusField: string | undefined
}

interface Noted {
  ranges: readonly NotedRange[]
  /** Records of the tracked rows and corners, by row. */
  records: ReadonlyMap<number, RecordId>
  rowCount: number | null
}

/** The part of the engine needed to follow its selection. */
interface FollowedGrid {
  readonly props: GridProps
  readonly selection: Store<Selection | null>
  readonly columns: readonly ResolvedColumn[]
  readonly size: GridSize
  readonly active: CellPosition | null
  rowAt(index: number): GridRow | undefined
  runsOf(kind: RangeKind, first: number, last: number): Span[]
}

type RowOf = (id: RecordId) => number | undefined

/**
 * Keeps the selection on its records: when rows are sorted, grouped, filtered, added or removed, ranges follow their
 * records, and records outside the view are deselected. The source locates records that are not loaded; until then
 * only those with a known position are selected.
 */
export class FollowedRecords {
  private noted: Noted | null = null
  /** The source's revision that `noted` describes. */
  private revision = -1
  private lookup: AbortController | null = null
  /** See `whenLocated`. */
  private waiting: (() => void) | null = null
  private isFollowing = false
  /** Last position of an active cell whose record left the view: keys continue from there. */
  lastActive: CellPosition | null = null

  constructor(private readonly engine: FollowedGrid) {
    engine.selection.subscribe(() => {
      if (this.isFollowing) return
      this.cancelLookup()
      this.waiting = null
      this.note()
    })
  }

  /** True while selected records are being located, which the selection lacks until then. */
  get isLocating(): boolean {
    return this.lookup !== null
  }

  /**
   * Calls `use` once the selection is complete: at once, or when the records that are being located are found, after those
   * that wait already. Not at all if something else is selected before.
   */
  whenLocated(use: () => void): void {
    const { waiting } = this
    if (this.isLocating)
      this.waiting = () => {
        waiting?.()
        use()
      }
    else use()
  }

  /** The record of the active cell, loaded or not. */
  get activeId(): RecordId | undefined {
    const { active } = this.engine
    return active ? this.idAt(active.row) : undefined
  }

  /** Loaded rows may reveal records that were unknown when selected. */
  complete(): void {
    if (this.lookup === null && this.noted?.ranges.some(({ rows }) => rows === null)) this.note()
  }

  /** Moves the selection with its records. @param revision changes when the order of the rows may have changed */
  follow(revision: number): void {
    const isOrderNew = revision !== this.revision
    this.revision = revision
    const { noted } = this
    if (!noted) return
    const rows = new Map<RecordId, number>()
    const unknown: RecordId[] = []
    for (const [row, id] of noted.records) {
      const now = this.engine.rowAt(row)?.id === id ? row : this.engine.props.source.indexOf(id)
      if (now !== undefined) rows.set(id, now)
      // Not loaded: its position is unchanged unless the order has changed.
      else if (isOrderNew || this.lookup) unknown.push(id)
      else rows.set(id, row)
    }
    this.cancelLookup()
    this.apply(noted, rows)
    if (unknown.length > 0) {
      this.noted = noted
      void this.locate(noted, unknown)
    } else this.settle()
  }

  private async locate(noted: Noted, unknown: readonly RecordId[]): Promise<void> {
    const lookup = new AbortController()
    this.lookup = lookup
    try {
      const located = await this.engine.props.source.locate(unknown, lookup.signal)
      if (lookup.signal.aborted) return
      const rows = new Map(located)
      for (const id of noted.records.values()) {
        const row = this.engine.props.source.indexOf(id)
        if (row !== undefined) rows.set(id, row)
      }
      this.lookup = null
      this.apply(noted, rows)
      this.settle()
    } catch (error) {
      if (lookup.signal.aborted) return
      // Without their positions, keeps the located records and drops the rest.
      this.lookup = null
      this.note()
      console.warn('the selected records could not be found', error)
      this.settle()
    }
  }

  private settle(): void {
    const { waiting } = this
    this.waiting = null
    waiting?.()
  }

  private cancelLookup(): void {
    this.lookup?.abort()
    this.lookup = null
  }

  private apply(noted: Noted, rows: ReadonlyMap<RecordId, number>): void {
    const { engine } = this
    const next = this.selectionOf(noted, (id) => rows.get(id))
    const before = engine.selection.get()
    if (next === null && before) this.lastActive = activeCell(before)
    this.isFollowing = true
    if (JSON.stringify(next) !== JSON.stringify(before)) engine.selection.set(next)
    this.isFollowing = false
    this.note(new Map([...rows].map(([id, row]) => [row, id])))
  }

  private selectionOf(noted: Noted, rowOf: RowOf): Selection | null {
    const ranges = noted.ranges.map((each, at) =>
      this.rangesOf(noted, each, rowOf, at === noted.ranges.length - 1),
    )
    const all = ranges.flat()
    const last = ranges.at(-1)
    const [first, ...others] = all.length > MAX_RANGES && last ? last.slice(-1).map(toActive) : all
    return first ? { ranges: [first, ...others] } : null
  }

  private rangesOf(noted: Noted, each: NotedRange, rowOf: RowOf, isLast: boolean): Range[] {
    const range = this.withColumns(each)
    if (!range) return []
    const { kind, anchor, focus } = range
    const rowNow = (row: number): number | undefined => {
      const id = noted.records.get(row)
      return id === undefined ? undefined : rowOf(id)
    }
    const anchorRow = rowNow(anchor.row)
    if (kind === 'columns' || kind === 'all') {
      const row = anchorRow ?? Math.min(anchor.row, Math.max(0, this.engine.size.rows - 1))
      return this.engine.size.rows < 1 ? [] : [{ ...range, anchor: { ...anchor, row } }]
    }
    const at = (row: number, to: number): Range => ({
      kind,
      anchor: { row, column: anchor.column },
      focus: { row: to, column: focus.column },
    })
    if (each.rows === null) {
      const isInPlace =
        anchorRow === anchor.row &&
        rowNow(focus.row) === focus.row &&
        noted.rowCount === this.engine.props.source.rowCount
      if (isInPlace) return [range]
      return isLast && anchorRow !== undefined ? [toActive(at(anchorRow, anchorRow))] : []
    }
    const rows = each.rows.map(rowNow).filter((row) => row !== undefined)
    const isNext = (row: number, next: number) =>
      next === row + 1 || this.engine.runsOf(kind, row + 1, next - 1).length === 0
    const runs = runsOf(rows, isNext, isLast ? anchorRow : undefined)
    const own = runs.findIndex(({ first, last }) => anchorRow === first || anchorRow === last)
    if (!isLast || own < 0) return runs.map(({ first, last }) => at(first, last))
    // The run with the active record comes last and keeps it as its anchor.
    const [active] = runs.splice(own, 1)
    const end = active && (active.first === anchorRow ? active.last : active.first)
    return [...runs.map(({ first, last }) => at(first, last)), at(anchorRow!, end!)]
  }

  /** The range over the same fields; null if they were hidden or moved apart. */
  private withColumns({ range, anchorField, focusField }: NotedRange): Range | null {
    const { columns } = this.engine
    const indexOf = (fieldId: string | undefined, column: number) =>
      columns[column]?.fieldId === fieldId ? column : columns.findIndex((one) => one.fieldId === fieldId)
    if (range.kind === 'rows' || range.kind === 'all') {
      const within = (cell: CellPosition) => clampCell(cell, { ...this.engine.size, rows: cell.row + 1 })
      return columns.length < 1
        ? null
        : { ...range, anchor: within(range.anchor), focus: within(range.focus) }
    }
    const anchor = indexOf(anchorField, range.anchor.column)
    const focus = indexOf(focusField, range.focus.column)
    if (anchor < 0) return null
    const isWhole = focus >= 0 && focus - anchor === range.focus.column - range.anchor.column
    return {
      ...range,
      anchor: { ...range.anchor, column: anchor },
      focus: { row: range.focus.row, column: isWhole ? focus : anchor },
    }
  }

  private idAt(row: number): RecordId | undefined {
    return this.engine.rowAt(row)?.id ?? this.noted?.records.get(row)
  }

  /** Tracks the selected records. @param known records of rows that are not loaded, by row */
  private note(known: ReadonlyMap<number, RecordId> = this.noted?.records ?? new Map()): void {
    const { engine } = this
    const selection = engine.selection.get()
    if (!selection) {
      this.noted = null
      return
    }
    const idAt = (row: number) => engine.rowAt(row)?.id ?? known.get(row)
    const records = new Map<number, RecordId>()
    const keep = (row: number): boolean => {
      const id = idAt(row)
      if (id !== undefined) records.set(row, id)
      return id !== undefined
    }
    const bounds = allBounds(selection, engine.size)
    let room = MAX_ROWS
    const ranges = selection.ranges.map((range, at): NotedRange => {
      const { top, bottom } = bounds[at]!
      keep(range.anchor.row)
      keep(range.focus.row)
      const isWhole = range.kind === 'columns' || range.kind === 'all'
      room -= isWhole ? 0 : bottom - top + 1
      const rows = isWhole || room < 0 ? null : rowsOf(engine.runsOf(range.kind, top, bottom))
      return {
        range,
        rows: rows?.every(keep) ? rows : null,
        anchorField: engine.columns[range.anchor.column]?.fieldId,
        focusField: engine.columns[range.focus.column]?.fieldId,
      }
    })
    this.noted = { ranges, records, rowCount: engine.props.source.rowCount }
  }
}

/** The active cell of a range alone. */
const toActive = ({ anchor }: Range): Range => ({ kind: 'cells', anchor, focus: anchor })

const rowsOf = (runs: readonly { first: number; last: number }[]): number[] =>
  runs.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at))

/**
 * Groups rows into runs of neighbours, split so that `corner` starts or ends a run.
 *
 * @param isNext true for rows without a visible one between them: a range reaches over collapsed groups
 */
function runsOf(
  rows: readonly number[],
  isNext: (row: number, next: number) => boolean,
  corner: number | undefined,
): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = []
  for (const row of rows.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.last === row) continue
    if (run && isNext(run.last, row)) run.last = row
    else runs.push({ first: row, last: row })
  }
  const at = runs.findIndex(({ first, last }) => corner !== undefined && first < corner && corner < last)
  const run = runs[at]
  if (run && corner !== undefined)
    runs.splice(at, 1, { first: run.first, last: corner - 1 }, { first: corner, last: run.last })
  return runs
}
