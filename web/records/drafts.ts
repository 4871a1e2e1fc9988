import type { Operation, Values } from '../../src/core/changes.ts'
import { startValue } from '../../src/core/fields/default-value.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import type { ListState } from './layouts/list.ts'
import type { Paging } from './layouts/paging.ts'
import type { DraftRecord } from './types.ts'

/** The rows that drafts stand among, and how one is sent. */
export interface DraftsDeps {
  state: ListState
  paging: Pick<Paging, 'columns' | 'restart'>
  fields(): readonly Field[]
  /** Sends a draft as one insert. */
  insert(id: RecordId, draft: DraftRecord): void
  /** The record is there: does it stand where it belongs? */
  recheck(id: RecordId): void
}

/** Where a new record is offered, and with which values beside the defaults. */
export interface DraftPlace {
  /** Its row; absent: that of the record ahead of which it goes. */
  index?: number
  values?: Values
}

export type Drafts = ReturnType<typeof createDrafts>

/** Records that exist in the browser alone: from "new record" to the server's answer to its first value. */
export function createDrafts({ state, paging, fields, insert, recheck }: DraftsDeps) {
  const { drafts } = state.rows
  /** Drafts that the person has typed into; the others hold defaults alone. */
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

  /** Fields that must have a value before the record can be made. */
  function missing(values: Values): Field[] {
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

    /** Any record not made yet, touched or not. */
    get any(): boolean {
      return drafts.size > 0
    },

    /** An empty record ahead of another, or at the end. Gives its row; null while the count is unknown. */
    add(before: RecordId | null, { index: wanted, values }: DraftPlace = {}): number | null {
      const index = wanted ?? (before === null ? state.count : state.indexOf(before))
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

    /** Shows the rows of an insert that is on its way; those without an id of a draft get none. */
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

    /** Records that were typed into and are not on their way. */
    unsaved: (): [RecordId, DraftRecord][] =>
      [...drafts].filter(
        ([id, draft]) => draft.state !== 'saving' && (touched.has(id) || draft.state === 'failed'),
      ),

    /** Takes over what `unsaved` gave, under ids of its own. */
    adopt(kept: readonly [RecordId, DraftRecord][]): void {
      for (const [, draft] of kept) {
        const id = createLocalId()
        drafts.set(id, { ...draft, before: null })
        touched.add(id)
      }
    },

    /**
     * Values typed into a record that was not sent yet; it is sent once nothing is missing. False where
     * the record is none of those: its values go as a change of their own.
     */
    fill(id: RecordId, values: Values): boolean {
      const draft = drafts.get(id)
      if (!draft || draft.state === 'saving') return false
      touched.add(id)
      const all = { ...draft.values, ...values }
      const lacking = missing(all)
      update(id, { values: all, message: requiredMessage(lacking), state: 'new', failed: new Map() })
      if (lacking.length === 0) this.send(id)
      return true
    },

    /** Values for a draft that is on its way: shown at once, and kept should the record be refused. */
    addTo(id: RecordId, values: Values): void {
      const draft = drafts.get(id)
      if (draft) update(id, { values: { ...draft.values, ...values } })
    },

    /** Sends a draft. False where the record is none. */
    send(id: RecordId): boolean {
      const draft = drafts.get(id)
      if (!draft) return false
      const lacking = missing(draft.values)
      if (lacking.length > 0) update(id, { message: requiredMessage(lacking) })
      else insert(id, update(id, { state: 'saving', message: null, failed: new Map() }) ?? draft)
      return true
    },

    /** All values of a draft at this moment; `otherwise` where it is none any more. */
    valuesOf: (id: RecordId, otherwise: Values): Values => drafts.get(id)?.values ?? otherwise,

    /** The server made the record. */
    saved(id: RecordId, real: RecordId, values: Values): void {
      if (!drafts.has(id)) return
      state.rename(id, real)
      state.rows.replaceDraft(id, real, paging.columns(), values)
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

    /** Drops a draft and what was typed into it. */
    drop(id: RecordId): boolean {
      if (!drafts.has(id)) return false
      remove(id)
      return true
    },

    /** The person has left the row: an untouched record vanishes, an incomplete one says what it lacks. */
    leave(id: RecordId): void {
      const draft = drafts.get(id)
      if (!draft || draft.state === 'saving') return
      if (!touched.has(id)) remove(id)
      else update(id, { state: 'failed', message: draft.message ?? requiredMessage(missing(draft.values)) })
    },
  }
}

function requiredMessage(lacking: readonly Field[]): string | null {
  if (lacking.length === 0) return null
  const names = new Intl.ListFormat(undefined, { type: 'conjunction' }).format(
    lacking.map((field) => field.title),
  )
  return lacking.length === 1
    ? m.records_field_is_required({ field: names })
    : m.records_fields_are_required({ fields: names })
}
