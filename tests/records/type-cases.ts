import { expect } from 'bun:test'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, fieldType, readOptions } from '../../src/core/fields/index.ts'
import { PASSWORD_MASK } from '../../src/core/fields/password.ts'
import type { TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { type Bench, benchOf, createBench } from './support.ts'

/** A base with people in it, for tests of every field type. */
export interface TypeWorld {
  bench: Bench
  ann: TestUser
  bob: TestUser
}

export async function createTypeWorld(): Promise<TypeWorld> {
  const bench = await createBench()
  const ann = await createMember(bench.app, bench.baseId, 'editor')
  return { bench, ann, bob: await createMember(bench.app, bench.baseId, 'editor') }
}

/** The same people in a base of their own: what compares a whole base before and after then has little to read. */
export async function inNewBase({ bench: { app, owner }, ann, bob }: TypeWorld): Promise<TypeWorld> {
  const { id } = await createBase(app, owner)
  for (const person of [ann, bob]) await app.services.auth.access.setMembership(id, person.id, 'editor')
  return { bench: benchOf(app, owner, id), ann, bob }
}

/** What tests of every type need to know of one. */
export interface TypeCase {
  options?: FieldOptions
  /** Values as they are kept, ascending as the field sorts; all different. */
  values(world: TypeWorld): CellValue[]
  /** What no program may write; absent where any text is a value. */
  refused?: unknown
  /** What REST shows of a value, where that is not the value. */
  shown?(value: CellValue, world: TypeWorld): unknown
  /** The text by which a search finds a value, where that is not the value; null: no search does. */
  found?(value: CellValue, world: TypeWorld): string | null
  /** The value as tRPC gives it, where it is not what was written. */
  seen?(value: CellValue): CellValue
}

const choices = (...titles: string[]) => ({ choices: titles.map((title) => ({ title })) })

const files = (...names: string[]): string =>
  JSON.stringify(
    names.map((title) => ({
      url: `https://files.example.com/${title}`,
      title,
      mimetype: 'image/png',
      size: 0,
    })),
  )

const people: TypeCase = {
  values: ({ ann, bob }) => [ann, bob].sort((a, b) => (a.email < b.email ? -1 : 1)).map(({ id }) => id),
  refused: 'nobody@example.com',
  found: (value, { ann, bob }) => [ann, bob].find(({ id }) => id === value)?.email ?? null,
  shown: (value, { ann, bob }) =>
    [ann, bob]
      .filter(({ id }) => id === value)
      .map(({ id, email }) => ({ id, email, display_name: null, meta: null })),
}

const CASES: Partial<Record<FieldTypeName, TypeCase>> = {
  SingleLineText: { values: () => ['apple', 'banana, ripe', 'cherry "sour"'], refused: { a: 1 } },
  LongText: { values: () => ['first\nsecond', 'x'.repeat(3000)], refused: [1] },
  Email: {
    options: { validate: true },
    values: () => ['ann@example.com', 'bob@example.com'],
    refused: 'nobody',
  },
  URL: {
    options: { validate: true },
    values: () => ['http://a.example', 'https://b.example'],
    refused: 'no pe',
  },
  PhoneNumber: { options: { validate: true }, values: () => ['+49 30 901820', '0301234567'], refused: 'x' },
  Number: { values: () => [-9007199254740991, -3, 0, 7, 9007199254740991], refused: 1.5 },
  Decimal: { values: () => [-1.5, 0.1, 0.30000000000000004, 1e15], refused: 'abc' },
  Currency: { options: { code: 'EUR' }, values: () => [-0.01, 9.99, 1234.5], refused: 'bad' },
  Percent: { values: () => [0, 33.333, 100], refused: 'half' },
  Duration: { options: { format: 'h:mm:ss' }, values: () => [-1800, 0.25, 90, 1e9], refused: '1:30' },
  Rating: { values: () => [1, 3, 5], refused: 6 },
  Year: { values: () => [0, 1999, 9999], refused: 10_000 },
  Time: { values: () => ['00:00:00', '08:59:59', '23:59:59'], refused: '25:00' },
  Checkbox: {
    values: () => [false, true],
    refused: 'perhaps',
    found: () => null,
    shown: (value, { bench }) => bench.app.flag(value === true),
  },
  Date: { values: () => ['0001-01-01', '2024-02-29', '9999-12-31'], refused: '2024-02-30' },
  DateTime: {
    options: { timeZone: 'UTC' },
    values: () => ['1999-12-31 23:59:59+00:00', '2024-02-29 23:59:59.999+00:00', '2024-03-01 00:00:00+00:00'],
    refused: 'soon',
    // The zone is not looked for: "00" would find every moment.
    found: (value) => String(value).replace('+00:00', ''),
  },
  SingleSelect: {
    options: choices('red', 'blue', 'a, b'),
    values: () => ['red', 'blue', 'a, b'],
    refused: 'zz',
  },
  MultiSelect: {
    options: choices('red', 'blue'),
    values: () => ['blue', 'red', 'red,blue'],
    refused: ['zz'],
  },
  User: people,
  Collaborator: people,
  JSON: { values: () => ['"x"', '[1, 2]', '{"b": 1,  "a": 1.50}'], refused: '{a:1}' },
  GeoData: { values: () => ['-90;180', '0;0', '48.850;2.35'], refused: '91;0' },
  Geometry: { values: () => ['POINT (30 10)', 'POLYGON ((0 0, 1 0, 1 1, 0 0))'], refused: 'POINT (1)' },
  Attachment: {
    values: () => [files('a.png'), files('b.png'), files('c.png', 'd.png')],
    refused: 'photo.png',
    found: (value) => JSON.parse(String(value))[0].title,
    shown: (value) => JSON.parse(String(value)).map((file: object) => expect.objectContaining(file)),
  },
  Password: {
    values: () => ['correct horse'],
    refused: { a: 1 },
    shown: () => PASSWORD_MASK,
    found: () => null,
    seen: () => PASSWORD_MASK,
  },
}

/** Every type whose values lie in a column that people and programs write. */
export const WRITTEN_TYPES = FIELD_TYPES.filter(
  ({ computed, readOnly, systemColumn, internal }: ReturnType<typeof fieldType>) =>
    !computed && !readOnly && !systemColumn && !internal,
).map(({ name }) => name)

/** What there is to know of a type; of one that is not listed here yet, by its own example. */
export function caseOf(type: FieldTypeName): TypeCase & { type: FieldTypeName; options: FieldOptions } {
  const { example, parse } = fieldType(type)
  const known: TypeCase = CASES[type] ?? { values: () => [parse(example, readOptions(type, {}))] }
  return { ...known, type, options: known.options ?? {} }
}
