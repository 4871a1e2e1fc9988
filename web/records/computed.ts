import type { AppliedChange, Values } from '../../src/core/changes.ts'
import { isComputed } from '../../src/core/fields/field.ts'
import type { ComputedKind } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { fieldsOf } from '../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { RecordsApi, StoreQuery } from './types.ts'

/** A burst of changes is answered with one reading. */
const PAUSE_MS = 60

/** Records whose computed values are read again at once; of more, only those in sight. */
const MOST = 300

/** The rows to keep true, and where to read them. */
export interface ComputedDeps {
  tableId: string
  api: Pick<RecordsApi, 'list'>
  state: ListState
  paging: Pick<Paging, 'inSight' | 'refreshSoon'>
  query(): StoreQuery
}

export type Computed = ReturnType<typeof createComputed>

/**
 * Keeps links, lookups, rollups and formulas of the rows on the screen true. The server works them out
 * when they are read, so a write does not pay for them: the rows that it may have touched are asked for
 * their computed values alone, once for a burst of changes.
 */
export function createComputed({ tableId, api, state, paging, query }: ComputedDeps) {
  const waiting = new Set<RecordId>()
  let isAllInSight = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading: AbortController | null = null

  const shown = (): string[] => {
    const { fields, fieldIds } = query()
    const computed = new Set(fields.filter((f) => isComputed(f)).map((f) => f.id))
    return fieldIds.filter((id) => computed.has(id))
  }

  /** True where values come from other records, of this table or another. */
  const looksElsewhere = (): boolean => query().fields.some((field) => readsRecords(field))

  const inSight = (): RecordId[] => {
    const ids = paging.inSight().filter((id) => !state.rows.drafts.has(id))
    return ids.slice(0, MOST)
  }

  function soon(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void read(), PAUSE_MS)
  }

  async function read(): Promise<void> {
    // One reading at a time: what changes meanwhile is read by the next.
    if (reading) return
    const fieldIds = shown()
    const written = waiting.size > MOST ? [] : [...waiting].filter(state.segments.has)
    const others = isAllInSight || waiting.size > MOST ? inSight() : []
    const ids = [...new Set([...written, ...others])].slice(0, MOST)
    waiting.clear()
    isAllInSight = false
    if (fieldIds.length === 0 || ids.length === 0) return
    const controller = new AbortController()
    reading = controller
    try {
      const page = await api.list(
        { tableId, recordIds: ids, fieldIds, sorts: [], limit: ids.length, offset: 0 },
        controller.signal,
      )
      if (!controller.signal.aborted) place(page.fieldIds, page.ids, page.rows)
    } catch {
      // Not shown as an error of its own: the rows stand, and the page as a whole is read again.
      if (!controller.signal.aborted) paging.refreshSoon()
    } finally {
      reading = null
      if (!controller.signal.aborted && (waiting.size > 0 || isAllInSight)) soon()
    }
  }

  function place(fieldIds: string[], ids: RecordId[], rows: readonly (readonly Values[string][])[]): void {
    for (const [at, id] of ids.entries()) {
      const row = rows[at] ?? []
      const differs = fieldIds.some((fieldId, column) => state.rows.stored(id, fieldId) !== row[column])
      if (!differs) continue
      state.rows.merge(
        id,
        Object.fromEntries(fieldIds.map((fieldId, column) => [fieldId, row[column] ?? null])),
      )
      state.rowChanged(id)
    }
    if (decides()) paging.refreshSoon()
    state.dataChanged()
  }

  /** True where the order or the filter looks at computed values: rows may stand elsewhere now. */
  function decides(): boolean {
    const { sorts, groups = [], filter } = query()
    const computed = new Set(shown())
    return [...fieldsOf(filter), ...[...groups, ...sorts].map((sort) => sort.fieldId)].some((id) =>
      computed.has(id),
    )
  }

  return {
    /** A change was stored, by this browser or another. */
    follow(change: Pick<AppliedChange, 'records' | 'tableIds'>): void {
      const isOther = change.tableIds.some((id) => id !== tableId)
      const own = change.records.filter((record) => record.tableId === tableId && record.after !== null)
      if (!isOther && own.length === 0) return
      if (shown().length === 0 || (isOther && own.length === 0 && !looksElsewhere())) return
      if (looksElsewhere()) isAllInSight = true
      for (const { recordId } of own) waiting.add(recordId)
      soon()
    },

    stop(): void {
      clearTimeout(timer)
      reading?.abort()
    },
  }
}

/** Kinds whose values come, or may come by way of another field, from other records. */
const READING: ReadonlySet<ComputedKind | undefined> = new Set(['link', 'lookup', 'rollup', 'count'] as const)

const readsRecords = ({ type }: Field): boolean => READING.has(fieldType(type).computed)
