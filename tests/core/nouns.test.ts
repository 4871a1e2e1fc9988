import { describe, expect, test } from 'bun:test'
import { pluralOf, singularOf } from '../../src/core/nouns.ts'

describe('pluralOf and singularOf', () => {
  test.each([
    ['Book', 'Books'],
    ['Order line', 'Order lines'],
    ['City', 'Cities'],
    ['Day', 'Days'],
    ['Box', 'Boxes'],
    ['Address', 'Addresses'],
    ['House', 'Houses'],
    ['Person', 'People'],
    ['Sales person', 'Sales people'],
    ['child', 'children'],
    ['Movie', 'Movies'],
    ['BOOK', 'BOOKS'],
  ])('%s and %s are one and several, whichever is given', (singular, plural) => {
    expect([pluralOf(singular), pluralOf(plural)]).toEqual([plural, plural])
    expect([singularOf(plural), singularOf(singular)]).toEqual([singular, singular])
  })

  test.each(['News', 'Staff', '客户', 'Table 7', 'Übersicht (alt)', ''])('leave %p as it is', (title) => {
    expect([pluralOf(title), singularOf(title)]).toEqual([title, title])
  })

  test('a word that ends in -us has a plural and stays singular', () => {
    expect(pluralOf('Status')).toBe('Statuses')
    expect(singularOf('Status')).toBe('Status')
  })
})
