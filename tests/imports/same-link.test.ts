import { expect, test } from 'bun:test'
import { type ImportLink, isSameLink } from '../../modules/imports/plan.ts'

const link = {
  kind: 'hasMany',
  related: {
    tableId: 'related',
    tableName: 'related',
    idColumn: 'id',
    displayField: { id: 'title', type: 'SingleLineText', columnName: 'title', options: {} },
  },
  isSelf: false,
  storedIn: {
    at: 'related',
    tableId: 'related',
    tableName: 'related',
    idColumn: 'id',
    keyFieldId: 'key',
    keyColumn: 'key',
    isRequired: false,
    stamps: [{ fieldId: 'changed', column: 'changed', storage: 'text' }],
  },
} as unknown as ImportLink

/** The value as PostgreSQL gives a stored `jsonb`: with the keys of objects in an order of its own. */
const stored = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(stored)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, own]) => [key, stored(own)]),
  )
}

test('the link of an import that goes on is the same, in whatever order its keys were stored', () => {
  expect(isSameLink(stored(link) as ImportLink, link)).toBe(true)
  const other = { ...link, storedIn: { ...link.storedIn, isRequired: true } } as ImportLink
  expect(isSameLink(stored(link) as ImportLink, other)).toBe(false)
})
