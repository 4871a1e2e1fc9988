import { describe, expect, test } from 'bun:test'
import { linkType } from '../../src/core/fields/links.ts'
import { readNameList, writeLinks, writeNameList } from '../../src/core/fields/list-value.ts'
import type { Field } from '../../src/core/model.ts'
import { createRecordNames, readNames } from '../../src/db/names-of-records.ts'
import { pick, seeded } from './random.ts'

const PIECES = [
  ',',
  ', ',
  '"',
  '""',
  '","',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '  ',
  '\u00a0',
  '\u200f',
  "'",
  '=1',
  '(',
  '\\',
]
const WORDS = ['Ann', 'דנה', 'سلمى', '👩‍👩‍👧', 'e\u0301', '12', 'Doe', 'x']
const SEEDS = [1, 2, 3, 4]

function nameOf(random: () => number): string {
  const length = 1 + Math.floor(random() * 5)
  return Array.from({ length }, () => pick(random, random() < 0.6 ? PIECES : WORDS)).join('')
}

describe('a list of names', () => {
  test.each(SEEDS)('is read as it was written, seed %d', (seed) => {
    const random = seeded(seed)
    for (let round = 0; round < 3000; round++) {
      const names = Array.from({ length: 1 + Math.floor(random() * 4) }, () => nameOf(random))
      expect([names, readNameList(writeNameList(names))]).toEqual([names, names])
    }
  })

  test('reads plainly what people type', () => {
    expect(readNameList('Ann,Bob ,  "Doe, Jane"')).toEqual(['Ann', 'Bob', 'Doe, Jane'])
    expect(readNameList('the "big" one, "half')).toEqual(['the "big" one', '"half'])
    expect(readNameList(' , ,')).toEqual([])
  })
})

describe.each(['mm', 'bt'] as const)('the cell of a link (%s)', (kind) => {
  test.each(SEEDS)('names its records so that they are found again, seed %d', (seed) => {
    const random = seeded(seed * 100)
    const display: Pick<Field, 'type' | 'options'> = { type: 'LongText', options: {} }
    const { format } = linkType({ name: 'Links', label: String, help: String, example: '' })
    for (let round = 0; round < 300; round++) {
      const titles = [...new Set(Array.from({ length: 12 }, () => nameOf(random)))]
      const names = createRecordNames(display)
      for (const [id, title] of titles.entries()) names.add(id, title)
      const linked = titles.map((title, id) => ({ id, title })).filter(() => random() < 0.3)
      const records = kind === 'bt' ? linked.slice(0, 1) : linked
      const text = format(writeLinks({ count: records.length, records }), { kind } as never)
      const { ids, missing } = readNames(text, { kind }, names)
      expect([text, ids, missing]).toEqual([text, records.map(({ id }) => id), []])
    }
  })
})
