import type { FormulaHelp } from '../../../src/core/formula/index.ts'
import { formulaTokens } from '../../../src/core/formula/index.ts'
import { writeReference } from '../../../src/core/formula/tokens.ts'
import type { Field } from '../../../src/core/model.ts'

/** Something that can be put into a formula: a field, or a function of the table's database. */
export type Offer =
  | { kind: 'field'; name: string; field: Field }
  | { kind: 'function'; name: string; help: FormulaHelp }

/** A word that is being written: its beginning, and the text from `from` to `to` that an offer takes the place of. */
export interface Typing {
  prefix: string
  from: number
  to: number
  /** Within a brace there are fields alone. */
  isField: boolean
}

/** Everything that a formula of a table may name, fields first. */
export const offersOf = (fields: readonly Field[], functions: readonly FormulaHelp[]): Offer[] => [
  ...fields.map((field): Offer => ({ kind: 'field', name: field.title, field })),
  ...functions.map((help): Offer => ({ kind: 'function', name: help.name, help })),
]

/** The word at or around the caret; null in a string, a number, and between words. */
export function typingAt(text: string, caret: number): Typing | null {
  const token = formulaTokens(text).find(({ from, to }) => from < caret && caret <= to)
  if (!token) return null
  const { kind, from, to } = token
  if (kind === 'name' || kind === 'function' || kind === 'literal') {
    return { prefix: text.slice(from, caret), from, to, isField: false }
  }
  // A brace without its end takes in all that follows, which is not a part of the title.
  if (kind === 'unknown' && token.text.startsWith('{')) {
    const typed = text.slice(from, caret)
    return { prefix: typed.replace(/^\{+/, ''), from, to: caret, isField: true }
  }
  if (kind !== 'reference' || caret === to) return null
  return { prefix: text.slice(from, caret).replace(/^\{+/, ''), from, to, isField: true }
}

/** The offers whose names a text finds, those that begin with it first. */
export function findOffers(offers: readonly Offer[], text: string, isField = false): Offer[] {
  const wanted = text.trim().toLocaleLowerCase()
  const rank = ({ name, kind }: Offer) => {
    if (isField && kind === 'function') return null
    const lower = name.toLocaleLowerCase()
    if (lower.startsWith(wanted)) return 0
    if (lower.split(/[\s_-]+/).some((word) => word.startsWith(wanted))) return 1
    return lower.includes(wanted) ? 2 : null
  }
  return offers
    .flatMap((offer) => {
      const place = rank(offer)
      return place === null ? [] : [{ offer, place }]
    })
    .sort((a, b) => a.place - b.place)
    .map(({ offer }) => offer)
}

/** The text that an offer inserts in place of `from` to `to`, and the caret after it. */
export function insertionOf(
  text: string,
  offer: Offer,
  { from, to }: Pick<Typing, 'from' | 'to'>,
): { text: string; from: number; to: number; caret: number } {
  if (offer.kind === 'field') {
    const inserted = writeReference(offer.name)
    return { text: inserted, from, to, caret: from + inserted.length }
  }
  const isCall = /^\s*\(/.test(text.slice(to))
  const isBare = /\(\)$/.test(offer.help.syntax)
  const inserted = isCall ? offer.name : `${offer.name}()`
  const caret = from + offer.name.length + (isCall ? 1 : isBare ? 2 : 1)
  return { text: inserted, from, to, caret }
}

/** A function's syntax cut at its arguments, so that the one being written can be shown. */
export function syntaxParts(syntax: string): { text: string; argument: number | null }[] {
  const open = syntax.indexOf('(')
  const parts: { text: string; argument: number | null }[] = [
    { text: syntax.slice(0, open + 1), argument: null },
  ]
  const inner = syntax.slice(open + 1, -1)
  inner.split(', ').forEach((text, argument) => {
    if (text === '') return
    if (argument > 0) parts.push({ text: ', ', argument: null })
    parts.push({ text, argument })
  })
  return [...parts, { text: ')', argument: null }]
}

/** Index of the syntax argument that describes the given one; `…` covers all further ones. */
export function shownArgument(syntax: string, argument: number): number {
  const count = syntaxParts(syntax).filter((part) => part.argument !== null).length
  return Math.min(argument, Math.max(0, count - 1))
}
