import type { Actor } from '../../../src/core/actor.ts'
import type { Change, Operation, Values } from '../../../src/core/changes.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { PASSWORD_MASK, password } from '../../../src/core/fields/password.ts'
import { defaultPeople, givenPeople, idsIn, joinIds, ME } from '../../../src/core/fields/people.ts'
import { holdsPeople, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import { type AuthService, asPublicPerson } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import { isPossibleId, perModel, readRecords, storedId } from '../table/index.ts'

/** Most passwords that one change sets: each takes the time that makes guessing them slow. */
const MAX_PASSWORDS = 200

/** OWASP's least for argon2id: some 20 ms for each, and 19 MB while it lasts. */
const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** The fields whose values say something that only the server can read; most tables have none. */
const settledFields = perModel((model) => ({
  people: model.fields.filter(holdsPeople),
  passwords: model.fields.filter(isSecret),
}))

/** Values of a record, or of many at once. */
interface Written {
  model: TableModel
  values: Values
  /** The record that is updated; null for a new one, and for many. */
  id: RecordId | null
  isNew: boolean
}

/** A value that names people of whom some are no members. */
interface Doubtful {
  written: Written
  field: Field
  unknown: string[]
}

interface Deps {
  auth: Pick<AuthService, 'peopleOf'>
  schema: Pick<SchemaReader, 'engineOf'>
}

/**
 * Looks at values before they are written whose meaning a field's type cannot know: people by e-mail, who
 * must be members of the base, and passwords, of which a fingerprint is kept. What is no such value at all
 * is left to the field's own check, which refuses it in words.
 */
export function createSettleValues({ auth, schema }: Deps) {
  async function settle(actor: Actor, baseId: string, writes: Written[]): Promise<void> {
    const named = writes.some(({ model }) => settledFields(model).people.length > 0)
    const members = named ? await auth.peopleOf(baseId) : []
    // Who tries addresses by a public link must not learn which of them are members'.
    const known = lookups(actor.kind === 'share' ? members.map(asPublicPerson) : members)
    const people = { actorId: actor.kind === 'user' ? actor.id : null, ...known }
    const passwords = writes.flatMap(({ model, values }) =>
      settledFields(model).passwords.filter((field) => values[field.id]),
    )
    // Before the first of them is worked on: all are refused or none.
    if (passwords.length > MAX_PASSWORDS)
      throw badRequest(`A change can set up to ${MAX_PASSWORDS} passwords`)
    const doubtful: Doubtful[] = []
    for (const written of writes) {
      const { model, values, isNew } = written
      for (const field of settledFields(model).people) {
        if (isNew) fillDefault(field, values, people)
        const ids = givenIds(field, values, people)
        if (ids === null) continue
        const unknown = ids.filter((id) => !people.ids.has(id))
        if (unknown.length > 0) doubtful.push({ written, field, unknown })
        values[field.id] = joinIds(ids)
      }
    }
    await refuseStrangers(doubtful)
    for (const { model, values, isNew } of writes) {
      for (const field of settledFields(model).passwords) await hash(field, values, isNew)
    }
  }

  /** Who has left stays where they are, so that others can be chosen beside them; nobody else is let in. */
  async function refuseStrangers(doubtful: Doubtful[]): Promise<void> {
    for (const [model, values] of Map.groupBy(doubtful, ({ written }) => written.model)) {
      const held = await peopleHeld(model, values)
      for (const { written, field, unknown } of values) {
        const kept = idsIn((held.get(idOf(written))?.[field.id] ?? null) as string | null)
        const stranger = unknown.find((id) => !kept.includes(id))
        if (stranger !== undefined) throw notPart(field, stranger)
      }
    }
  }

  /** Whom the records of a table hold already, in one read for all of them; of new records there is none. */
  async function peopleHeld(model: TableModel, values: Doubtful[]): Promise<Map<string, Values>> {
    const ids = values.flatMap(({ written: { id } }) =>
      id === null || !isPossibleId(model, id) ? [] : [storedId(model, id)],
    )
    if (ids.length === 0) return new Map()
    const { dialect, all } = await schema.engineOf(model.table)
    const fields = [...new Set(values.map(({ field }) => field))]
    return readRecords({ tx: { all }, dialect, model }, [...new Set(ids)], fields)
  }

  return {
    /**
     * The change with its people found and its passwords made unreadable; the very same where it has none.
     *
     * @throws INVALID_VALUE_FOR_FIELD naming who is no member of the base
     */
    async change(
      actor: Actor,
      change: Change,
      load: (tableId: string) => Promise<TableModel>,
    ): Promise<Change> {
      const writes: Written[] = []
      const operations: Operation[] = []
      for (const operation of change.operations) {
        const model = await load(operation.tableId)
        if ((operation.kind !== 'insert' && operation.kind !== 'update') || !needsLook(model)) {
          operations.push(operation)
          continue
        }
        const isNew = operation.kind === 'insert'
        const rows = operation.rows.map((row) => ({ ...row, values: { ...row.values } }))
        for (const row of rows)
          writes.push({ model, values: row.values, isNew, id: isNew ? null : (row.id ?? null) })
        operations.push({ ...operation, rows } as Operation)
      }
      if (writes.length === 0) return change
      await settle(actor, change.baseId, writes)
      return { ...change, operations }
    },

    /** The same for values that many records get. @throws INVALID_VALUE_FOR_FIELD */
    async values(actor: Actor, model: TableModel, values: Values): Promise<Values> {
      if (!needsLook(model)) return values
      const settled = { ...values }
      await settle(actor, model.table.baseId, [{ model, values: settled, id: null, isNew: false }])
      return settled
    },
  }
}

/** The key under which `readRecords` gives a record; no record has that of a new one. */
const idOf = ({ model, id }: Written): string => (id === null ? '' : String(storedId(model, id)))

const needsLook = (model: TableModel): boolean => {
  const { people, passwords } = settledFields(model)
  return people.length + passwords.length > 0
}

interface People {
  actorId: string | null
  ids: ReadonlySet<string>
  byEmail: ReadonlyMap<string, string>
}

const lookups = (members: readonly Person[]): Omit<People, 'actorId'> => ({
  ids: new Set(members.map(({ id }) => id)),
  byEmail: new Map(members.map(({ id, email }) => [email.toLowerCase(), id])),
})

/** A default may name people who have left since, and "me", which is whoever makes the record. */
function fillDefault(field: Field, values: Values, { actorId, ids }: People): void {
  if (values[field.id] === undefined) values[field.id] = defaultPeople(field.defaultValue, actorId, ids)
}

/** The ids of those whom a value names; null where it names nobody, or is no value of people. */
function givenIds(field: Field, values: Values, { actorId, byEmail }: People): string[] | null {
  const input: unknown = values[field.id]
  const names = input === undefined || input === null || input === '' ? null : givenPeople(input)
  if (names === null) return null
  const ids = names.map((name) =>
    name === ME ? (actorId ?? name) : (byEmail.get(name.toLowerCase()) ?? name),
  )
  const different = [...new Set(ids)]
  if (different.length > 1 && field.options.multiple !== true) {
    const message = `Multiple users not allowed for '${field.title}'`
    throw new AppError('INVALID_VALUE_FOR_FIELD', message, about(field), 'msg')
  }
  return different
}

const notPart = (field: Field, name: string): AppError =>
  new AppError(
    'INVALID_VALUE_FOR_FIELD',
    `User with id '${name.slice(0, 100)}' is not part of this workspace`,
    about(field),
    'msg',
  )

const about = ({ id, title }: Field) => ({ fieldId: id, field: title })

/** Puts the fingerprint in a password's place. */
async function hash(field: Field, values: Values, isNew: boolean): Promise<void> {
  const input: unknown = values[field.id]
  if (input === undefined || input === null || input === '') return
  if (input === PASSWORD_MASK) {
    // What everyone reads of a password was sent back: it means the one that is there.
    if (isNew) values[field.id] = null
    else delete values[field.id]
    return
  }
  const read = password.read(input, {})
  if (!read.ok) return
  values[field.id] = await Bun.password.hash(String(read.value), ARGON2)
}

export type SettleValues = ReturnType<typeof createSettleValues>
