import type { AppliedChange, Values } from '../../src/core/changes.ts'
import { isComputed } from '../../src/core/fields/field.ts'
import type { ComputedKind } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { fieldsOf } from '../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { RecordsApi, StoreQuery } from './types.ts'

/** Changes within this time are followed by one read. */
const PAUSE_MS = 60

/** Records read in one request, those on screen first. */
const MAX_RECORDS = 300

/** Pause before each request for further records: however many are loaded, nobody waits for them. */
const REST_PAUSE_MS = 500

/** The rows to update, and where to read their values. */
export interface ComputedDeps {
  tableId: string
  api: Pick<RecordsApi, 'list'>
  state: ListState
  paging: Pick<Paging, 'visibleIds' | 'refreshSoon'>
  query(): StoreQuery
}

export type Computed = ReturnType<typeof createComputed>

/**
 * Keeps links, lookups, rollups and formulas of the loaded rows up to date. The server computes them on read, not on
 * write; so after a burst of changes the rows that may be affected are read again, computed fields only: first those on
 * screen, then the others, which are scrolled to and copied without another read.
 */
export function createComputed({ tableId, api, state, paging, query }: ComputedDeps) {
  /** Records whose computed values may have changed since they were read. */
  const outdated = new Set<RecordId>()
  /** `rows.now()` of the last change: pages requested before may have older values. */
  let changedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading: AbortController | null = null

  const computedFieldIds = (): string[] => {
    const { fields, fieldIds } = query()
    const computed = new Set(fields.filter((f) => isComputed(f)).map((f) => f.id))
    return fieldIds.filter((id) => computed.has(id))
  }

  /** True if any field reads values of other records, of this table or another. */
  const readsOtherRecords = (): boolean => query().fields.some((field) => readsRecords(field))

  state.rows.onStore((id, askedAt) => {
    if (askedAt >= changedAt) return void outdated.delete(id)
    outdated.add(id)
    schedule(PAUSE_MS)
  })

  function schedule(pauseMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      void read()
    }, pauseMs)
  }

  /** The records to read next. */
  function takeOutdated(): RecordId[] {
    const visible = paging.visibleIds().filter((id) => outdated.has(id))
    const next = visible.length > 0 ? visible : [...outdated].filter(state.segments.has)
    const taken = next.slice(0, MAX_RECORDS)
    if (taken.length === 0) outdated.clear()
    for (const id of taken) outdated.delete(id)
    return taken
  }

  async function read(): Promise<void> {
    // One read at a time; changes that arrive meanwhile are read by the next.
    if (reading) return schedule(PAUSE_MS)
    const fieldIds = computedFieldIds()
    const ids = takeOutdated()
    if (fieldIds.length === 0 || ids.length === 0) return
    const controller = new AbortController()
    reading = controller
    try {
      const page = await api.list(
        { tableId, recordIds: ids, fieldIds, sorts: [], limit: ids.length, offset: 0 },
        controller.signal,
      )
      if (!controller.signal.aborted) mergeValues(page.fieldIds, page.ids, page.rows)
    } catch {
      // Not shown as an error: the rows stay, and the whole page is read again.
      outdated.clear()
      if (!controller.signal.aborted) paging.refreshSoon()
    } finally {
      reading = null
      if (!controller.signal.aborted && outdated.size > 0 && !timer) schedule(REST_PAUSE_MS)
    }
  }

  function mergeValues(
    fieldIds: string[],
    ids: RecordId[],
    rows: readonly (readonly Values[string][])[],
  ): void {
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
    if (affectsOrder()) paging.refreshSoon()
    state.dataChanged()
  }

  /** True if a filter, sort or group uses a computed field, so that rows may have to move. */
  function affectsOrder(): boolean {
    const { sorts, groups = [], filter } = query()
    const computed = new Set(computedFieldIds())
    return [...fieldsOf(filter), ...[...groups, ...sorts].map((sort) => sort.fieldId)].some((id) =>
      computed.has(id),
    )
  }

  return {
    /** Schedules the reads that a stored change calls for, whoever made it. */
    follow(change: Pick<AppliedChange, 'records' | 'tableIds'>): void {
      const isOther = change.tableIds.some((id) => id !== tableId)
      const own = change.records.filter((record) => record.tableId === tableId && record.after !== null)
      if (!isOther && own.length === 0) return
      if (computedFieldIds().length === 0 || (isOther && own.length === 0 && !readsOtherRecords())) return
      if (readsOtherRecords()) for (const id of state.rows.ids()) outdated.add(id)
      for (const { recordId } of own) outdated.add(recordId)
      changedAt = state.rows.tick()
      schedule(PAUSE_MS)
    },

    stop(): void {
      clearTimeout(timer)
      reading?.abort()
    },
  }
}

/** Kinds whose values come from other records, directly or through another field. */
const KINDS_READING_RECORDS: ReadonlySet<ComputedKind | undefined> = new Set([
  'link',
  'lookup',
  'rollup',
  'count',
] as const)

const readsRecords = ({ type }: Field): boolean => KINDS_READING_RECORDS.has(fieldType(type).computed)
