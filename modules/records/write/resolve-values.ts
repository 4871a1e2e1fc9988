import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import type { Change, Operation, Values } from '../../../src/core/changes.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { PASSWORD_MASK, password } from '../../../src/core/fields/password.ts'
import { defaultPeople, idsIn, joinIds, ME, readPeople } from '../../../src/core/fields/people.ts'
import { holdsFiles, holdsPeople, isSecret } from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { type AuthService, asPublicPerson } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { AttachmentsService } from '../attachments/index.ts'
import { isPossibleId, perModel, readRecords, storedId } from '../table/index.ts'

/** Limit of passwords in one change: hashing is slow on purpose. */
const MAX_PASSWORDS = 200

/** OWASP’s minimum for argon2id: about 20 ms and 19 MB each. */
const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Fields with values that only the server can interpret; most tables have none. */
const resolvedFields = perModel((model) => ({
  people: model.fields.filter(holdsPeople),
  passwords: model.fields.filter(isSecret),
  files: model.fields.filter(holdsFiles),
}))

/** Values of one record, or of many. */
interface Written {
  model: TableModel
  values: Values
  /** The updated record; null for a new one, and for many. */
  id: RecordId | null
  isNew: boolean
}

/** A value with people who are not members. */
interface UnknownPeople {
  written: Written
  field: Field
  unknown: string[]
}

interface Deps {
  auth: Pick<AuthService, 'peopleOf'>
  schema: Pick<SchemaReader, 'engineOf' | 'load'>
  attachments: Pick<AttachmentsService, 'resolveItems'>
}

/**
 * Resolves values that a field type cannot interpret by itself: files, people by e-mail, who must be members of the
 * base, and passwords, which are hashed. Other input is left to the field’s own check.
 */
export function createValueResolver({ auth, schema, attachments }: Deps) {
  async function resolve(actor: Actor, baseId: string, writes: Written[]): Promise<void> {
    await attachments.resolveItems(actor, baseId, writes)
    const named = writes.some(({ model }) => resolvedFields(model).people.length > 0)
    const members = named ? await auth.peopleOf(baseId) : []
    // Visitors must not learn which addresses belong to members.
    const known = lookups(actor.kind === 'share' ? members.map(asPublicPerson) : members)
    const people = { actorId: actorIdOf(actor), ...known }
    const passwords = writes.flatMap(({ model, values }) =>
      resolvedFields(model).passwords.filter((field) => values[field.id]),
    )
    // Check the limit before hashing any.
    if (passwords.length > MAX_PASSWORDS)
      throw badRequest(m.records_error_too_many_passwords({ max: MAX_PASSWORDS }))
    const doubtful: UnknownPeople[] = []
    for (const written of writes) {
      const { model, values, isNew } = written
      for (const field of resolvedFields(model).people) {
        if (isNew) fillDefault(field, values, people)
        const ids = givenIds(field, values, people)
        if (ids === null) continue
        const unknown = ids.filter((id) => !people.ids.has(id))
        if (unknown.length > 0) doubtful.push({ written, field, unknown })
        values[field.id] = joinIds(ids)
      }
    }
    await refuseUnknownPeople(doubtful)
    for (const { model, values, isNew } of writes) {
      for (const field of resolvedFields(model).passwords) await hash(field, values, isNew)
    }
  }

  /** Former members may stay in a cell, but not be added to one. */
  async function refuseUnknownPeople(doubtful: UnknownPeople[]): Promise<void> {
    for (const [model, values] of Map.groupBy(doubtful, ({ written }) => written.model)) {
      const held = await peopleHeld(model, values)
      for (const { written, field, unknown } of values) {
        const kept = idsIn((held.get(idOf(written))?.[field.id] ?? null) as string | null)
        const stranger = unknown.find((id) => !kept.includes(id))
        if (stranger !== undefined) throw notPart(field, stranger)
      }
    }
  }

  /** The people already in the records, in one read; new records have none. */
  async function peopleHeld(model: TableModel, values: UnknownPeople[]): Promise<Map<string, Values>> {
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
     * The operations of a change with their values resolved.
     *
     * @throws INVALID_VALUE_FOR_FIELD naming who is not a member of the base; BAD_REQUEST for unknown files
     */
    async change(actor: Actor, change: Change): Promise<Operation[]> {
      const writes: Written[] = []
      const operations: Operation[] = []
      for (const operation of change.operations) {
        const model = await schema.load(operation.tableId)
        if ((operation.kind !== 'insert' && operation.kind !== 'update') || !needsResolving(model)) {
          operations.push(operation)
          continue
        }
        const isNew = operation.kind === 'insert'
        const rows = operation.rows.map((row) => ({ ...row, values: { ...row.values } }))
        for (const row of rows) {
          writes.push({ model, values: row.values, isNew, id: isNew ? null : (row.id ?? null) })
        }
        operations.push({ ...operation, rows } as Operation)
      }
      if (writes.length > 0) await resolve(actor, change.baseId, writes)
      return operations
    },

    /** The same for values that many records get. */
    async values(actor: Actor, model: TableModel, values: Values): Promise<Values> {
      if (!needsResolving(model)) return values
      const resolved = { ...values }
      await resolve(actor, model.table.baseId, [{ model, values: resolved, id: null, isNew: false }])
      return resolved
    },
  }
}

/** The record’s key in the result of `readRecords`; empty for a new record. */
const idOf = ({ model, id }: Written): string => (id === null ? '' : String(storedId(model, id)))

const needsResolving = (model: TableModel): boolean => {
  const { people, passwords, files } = resolvedFields(model)
  return people.length + passwords.length + files.length > 0
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

/** Applies the default, which may name former members, and “me”, the author. */
function fillDefault(field: Field, values: Values, { actorId, ids }: People): void {
  if (values[field.id] === undefined) values[field.id] = defaultPeople(field.defaultValue, actorId, ids)
}

/** The ids of the people in a value; null for an empty value and for values of another kind. */
function givenIds(field: Field, values: Values, { actorId, byEmail }: People): string[] | null {
  const input: unknown = values[field.id]
  const names = input === undefined || input === null || input === '' ? null : readPeople(input)
  if (names === null) return null
  const ids = names.map((name) =>
    name === ME ? (actorId ?? name) : (byEmail.get(name.toLowerCase()) ?? name),
  )
  const different = [...new Set(ids)]
  if (different.length > 1 && field.options.multiple !== true) {
    const message = m.wire_error_several_users({ field: field.title })
    throw new AppError('INVALID_VALUE_FOR_FIELD', message, about(field), 'msg')
  }
  return different
}

const notPart = (field: Field, name: string): AppError =>
  new AppError(
    'INVALID_VALUE_FOR_FIELD',
    m.wire_error_not_a_member({ id: name.slice(0, 100) }),
    about(field),
    'msg',
  )

const about = ({ id, title }: Field) => ({ fieldId: id, field: title })

/** Replaces a password by its hash. */
async function hash(field: Field, values: Values, isNew: boolean): Promise<void> {
  const input: unknown = values[field.id]
  if (input === undefined || input === null || input === '') return
  if (input === PASSWORD_MASK) {
    // The mask was sent back: the password is unchanged.
    if (isNew) values[field.id] = null
    else delete values[field.id]
    return
  }
  const read = password.read(input, {})
  if (!read.ok) return
  values[field.id] = await Bun.password.hash(String(read.value), ARGON2)
}

export type ValueResolver = ReturnType<typeof createValueResolver>
