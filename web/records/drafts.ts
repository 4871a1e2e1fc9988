import type { Operation, Values } from '../../src/core/changes.ts'
import { startValue } from '../../src/core/fields/default-value.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { listNames } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { DraftRecord } from './types.ts'

/** The rows that drafts are shown among, and the call that sends one. */
export interface DraftsDeps {
  state: ListState
  paging: Pick<Paging, 'columns' | 'restart'>
  fields(): readonly Field[]
  /** Sends a draft as one insert. */
  insert(id: RecordId, draft: DraftRecord): void
  /** Checks whether a created record fits the filter and order. */
  recheck(id: RecordId): void
}

/** Position and initial values of a new record. */
export interface DraftPosition {
  /** Row index; absent: the row of the record that it precedes. */
  index?: number
  /** Override the default values. */
  values?: Values
}

export type Drafts = ReturnType<typeof createDrafts>

/** Records that exist in the browser only, from “New record” until the server confirms the insert. */
export function createDrafts({ state, paging, fields, insert, recheck }: DraftsDeps) {
  const { drafts } = state.rows
  /** Drafts with values from the user; the others hold defaults only. */
  const touched = new Set<RecordId>()
  let lastId = 0

  const createLocalId = (): RecordId => `new-${++lastId}`

  function update(id: RecordId, change: Partial<DraftRecord>): DraftRecord | undefined {
    const draft = drafts.get(id)
    if (!draft) return undefined
    const next = { ...draft, ...change }
    drafts.set(id, next)
    state.rowChanged(id)
    return next
  }

  /** Required fields without a value; the record is sent once there are none. */
  function missingFields(values: Values): Field[] {
    return fields().filter((field) => {
      const isFilled = field.defaultValue !== null || (fieldType(field.type).initial ?? null) !== null
      if (!field.required || field.isSystem || fieldType(field.type).readOnly || isFilled) return false
      return values[field.id] === undefined || values[field.id] === null || values[field.id] === ''
    })
  }

  const defaults = (): Values =>
    Object.fromEntries(
      fields()
        .filter((field) => !field.isSystem && !fieldType(field.type).readOnly)
        .map((field) => [field.id, startValue(field, { ms: Date.now() })] as const)
        .filter(([, value]) => value !== null),
    )

  function remove(id: RecordId): void {
    drafts.delete(id)
    state.rows.touch(id)
    state.remove([id])
    paging.restart()
    state.structureChanged()
  }

  return {
    isLocal: (id: RecordId): boolean => drafts.has(id),

    /** Adds a draft before another record, or at the end. Returns its row; null while the count is unknown. */
    add(before: RecordId | null, { index: givenIndex, values }: DraftPosition = {}): number | null {
      const index = givenIndex ?? (before === null ? state.count : state.indexOf(before))
      if (index === undefined || index === null) return null
      const id = createLocalId()
      drafts.set(id, {
        values: { ...defaults(), ...values },
        before,
        state: 'new',
        message: null,
        failed: new Map(),
      })
      state.insert(index, [id])
      paging.restart()
      state.structureChanged()
      return index
    },

    /** Shows the rows of an insert that is being sent; rows without a local id are not shown. */
    show(operation: Extract<Operation, { kind: 'insert' }>): void {
      const fresh = operation.rows.filter(({ id }) => id !== undefined && !drafts.has(id))
      const index = operation.before == null ? state.count : state.indexOf(operation.before)
      if (fresh.length === 0 || index === undefined || index === null) return
      for (const { id, values } of fresh) {
        const before = operation.before ?? null
        if (id !== undefined)
          drafts.set(id, { values, before, state: 'saving', message: null, failed: new Map() })
      }
      state.insert(
        index,
        fresh.map(({ id }) => id!),
      )
    },

    createLocalId,

    /** Drafts with input of the user that are not being sent. */
    unsaved: (): [RecordId, DraftRecord][] =>
      [...drafts].filter(
        ([id, draft]) => draft.state !== 'saving' && (touched.has(id) || draft.state === 'failed'),
      ),

    /** Restores the drafts of an earlier store, under new local ids. */
    adopt(unsaved: readonly [RecordId, DraftRecord][]): void {
      for (const [, draft] of unsaved) {
        const id = createLocalId()
        drafts.set(id, { ...draft, before: null })
        touched.add(id)
      }
    },

    /**
     * Sets values of an unsent draft and sends it once no required value is missing. Returns false for other records,
     * whose values need an update.
     */
    fill(id: RecordId, values: Values): boolean {
      const draft = drafts.get(id)
      if (!draft || draft.state === 'saving') return false
      touched.add(id)
      const all = { ...draft.values, ...values }
      const lacking = missingFields(all)
      update(id, { values: all, message: requiredMessage(lacking), state: 'new', failed: new Map() })
      if (lacking.length === 0) this.send(id)
      return true
    },

    /** Sets values of a draft that is being sent; they survive if the server rejects the insert. */
    addTo(id: RecordId, values: Values): void {
      const draft = drafts.get(id)
      if (draft) update(id, { values: { ...draft.values, ...values } })
    },

    /** Sends a draft; returns false if the record is not a draft. */
    send(id: RecordId): boolean {
      const draft = drafts.get(id)
      if (!draft) return false
      const lacking = missingFields(draft.values)
      if (lacking.length > 0) update(id, { message: requiredMessage(lacking) })
      else insert(id, update(id, { state: 'saving', message: null, failed: new Map() }) ?? draft)
      return true
    },

    /** Current values of a draft; `otherwise` if it has been saved or dropped. */
    valuesOf: (id: RecordId, otherwise: Values): Values => drafts.get(id)?.values ?? otherwise,

    /** Replaces a draft by the record that a change created. */
    saved(id: RecordId, real: RecordId, values: Values, change: number): void {
      if (!drafts.has(id)) return
      state.rename(id, real)
      state.rows.replaceDraft(id, real, paging.columns(), values, change)
      touched.delete(id)
      recheck(real)
      state.rowChanged(real)
    },

    refused(id: RecordId, reason: string, fieldId: unknown): void {
      const draft = drafts.get(id)
      if (!draft) return
      const failed =
        typeof fieldId === 'string' && fieldId in draft.values ? new Map([[fieldId, reason]]) : new Map()
      update(id, { state: 'failed', message: reason, failed })
    },

    /** Removes a draft with its values; returns false if the record is not a draft. */
    drop(id: RecordId): boolean {
      if (!drafts.has(id)) return false
      remove(id)
      return true
    },

    /** Call when the user leaves the row: removes an untouched draft, marks an incomplete one as failed. */
    leave(id: RecordId): void {
      const draft = drafts.get(id)
      if (!draft || draft.state === 'saving') return
      if (!touched.has(id)) remove(id)
      else
        update(id, {
          state: 'failed',
          message: draft.message ?? requiredMessage(missingFields(draft.values)),
        })
    },
  }
}

function requiredMessage(lacking: readonly Field[]): string | null {
  if (lacking.length === 0) return null
  const names = listNames(lacking.map((field) => field.title))
  return lacking.length === 1
    ? m.records_field_is_required({ field: names })
    : m.records_fields_are_required({ fields: names })
}
