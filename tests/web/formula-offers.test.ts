import { describe, expect, test } from 'bun:test'
import { formulaFunctions, formulaTokens } from '../../src/core/formula/index.ts'
import type { Field } from '../../src/core/model.ts'
import { coloured } from '../../web/cells/coloured.ts'
import {
  findOffers,
  insertionOf,
  type Offer,
  offersOf,
  shownArgument,
  syntaxParts,
  typingAt,
} from '../../web/features/formula/offers.ts'
import { seeded, textOf } from '../core/random.ts'

const fields = ['Price', 'Unit (net) price', 'A{b}\\c'].map((title) => ({ title, id: title }) as Field)
const offers = offersOf(fields, formulaFunctions('pg'))
const named = (name: string): Offer => {
  const found = offers.find((offer) => offer.name === name)
  if (!found) throw new Error(`Nothing is called ${name}`)
  return found
}

/** Puts an offer where `|` stands, and shows the caret in what comes out. */
function complete(marked: string, name: string): string {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const place = typingAt(text, caret) ?? { from: caret, to: caret }
  const { text: inserted, from, to, caret: at } = insertionOf(text, named(name), place)
  const after = text.slice(0, from) + inserted + text.slice(to)
  return `${after.slice(0, at)}|${after.slice(at)}`
}

describe('typingAt', () => {
  test('finds the word at the caret, and none in texts, numbers and between words', () => {
    const at = (marked: string) => typingAt(marked.replace('|', ''), marked.indexOf('|'))
    expect(at('1 + pri|')).toEqual({ prefix: 'pri', from: 4, to: 7, isField: false })
    expect(at('pr|ice + 1')).toEqual({ prefix: 'pr', from: 0, to: 5, isField: false })
    expect(at('{Unit p|')).toEqual({ prefix: 'Unit p', from: 0, to: 7, isField: true })
    expect(at('{Un| + 1')).toEqual({ prefix: 'Un', from: 0, to: 3, isField: true })
    expect(at('{Un|it}')).toEqual({ prefix: 'Un', from: 0, to: 6, isField: true })
    for (const none of ['|', '1 + |', '"pri|', '12|', '{Price}|', 'IF(|']) expect(at(none)).toBeNull()
  })
})

describe('findOffers', () => {
  test('puts first what begins with the text, then what has a word that does', () => {
    const found = (text: string, isField = false) => findOffers(offers, text, isField).map(({ name }) => name)
    expect(found('pri')).toEqual(['Price', 'Unit (net) price'])
    expect(found('ROUND')).toEqual(['ROUND', 'ROUNDDOWN', 'ROUNDUP'])
    expect(found('diff')).toEqual(['DATETIME_DIFF', 'WORKDAY_DIFF'])
    expect(found('ro', true)).toEqual([])
    expect(found('')).toHaveLength(offers.length)
  })
})

describe('insertionOf', () => {
  test.each([
    ['1 + pri|', 'Price', '1 + {Price}|'],
    ['{un|', 'Unit (net) price', '{Unit (net) price}|'],
    ['{un|it} + 1', 'Price', '{Price}| + 1'],
    ['|', 'A{b}\\c', '{A\\{b\\}\\\\c}|'],
    ['ro|', 'ROUND', 'ROUND(|)'],
    ['ro|(1.5)', 'ROUND', 'ROUND(|1.5)'],
    ['no|', 'NOW', 'NOW()|'],
  ])('makes of %s and %s %s', (before, name, after) => {
    expect(complete(before, name)).toBe(after)
  })
})

describe('the signature', () => {
  test('shows the argument that is being written, the last one for any more', () => {
    const syntax = 'ROUND(number, [digits])'
    expect(syntaxParts(syntax).map(({ text }) => text)).toEqual(['ROUND(', 'number', ', ', '[digits]', ')'])
    expect(shownArgument(syntax, 0)).toBe(0)
    expect(shownArgument(syntax, 7)).toBe(1)
    for (const { syntax: each } of formulaFunctions('pg')) {
      expect(
        syntaxParts(each)
          .map(({ text }) => text)
          .join(''),
      ).toBe(each)
    }
  })
})

describe('coloured', () => {
  test('loses no letter, whatever the text and its problems', () => {
    const random = seeded(4)
    for (let index = 0; index < 1000; index++) {
      const text = textOf(random, ['IF(', '{a', '}', '"', '+', 'é', '\n', ')', ' ', '😀'], 12)
      const from = Math.floor(random() * (text.length + 1))
      const problems = [{ from, to: Math.min(text.length, from + Math.floor(random() * 4)) }]
      const stretches = coloured(text, problems)
      expect(stretches.map((stretch) => stretch.text).join('')).toBe(text)
      expect(new Set(stretches.map((stretch) => stretch.from)).size).toBe(stretches.length)
    }
    const wrong = coloured('1 + {Nope}', [{ from: 4, to: 10 }]).filter(({ isWrong }) => isWrong)
    expect(wrong.map(({ text }) => text)).toEqual(['{Nope}'])
    expect(formulaTokens('').length).toBe(coloured('', []).length)
  })
})
