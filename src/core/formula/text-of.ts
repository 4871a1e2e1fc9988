import { isListType, type ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import type { Datum } from './functions/define.ts'
import { compileToWall, toWall } from './instants.ts'
import { elementsOf } from './lists.ts'
import { EXACT, limited, numberText, writeDate } from './semantics.ts'

/** A value of that type as text, as `semantics.ts` says. */
export function textOf(value: Datum, type: ValueType, zone: string): string | null {
  if (value === null || type === 'null') return null
  if (type === 'date') return writeDate(Number(value), 'date')
  if (type === 'datetime') return instantText(toWall(Number(value), zone))
  if (type === 'number') {
    const number = limited(Number(value))
    return number === null ? null : numberText(number)
  }
  return isListType(type) ? elementsOf(value).join(', ') : String(value)
}

/** `2024-03-05 08:20:30`; a clock near the ends of the years 1 to 9999 may show a year that is not. */
function instantText(wall: number): string | null {
  const stored = writeDate(Math.floor(wall / 1000) * 1000, 'datetime')
  return stored === null ? null : stored.slice(0, 19)
}

/** The same as SQL. A number must lie below `LIMIT`. */
export function compileText<S>(value: Value<S>, build: Build<S>): S {
  const { words } = build
  switch (value.type) {
    case 'text':
      return value.sql
    case 'null':
      return words.nothing('text')
    case 'texts':
    case 'numbers':
      return words.joinList(value.sql, words.text(', '))
    case 'boolean':
      return build.once([value], (truth) =>
        words.choose(
          [
            [truth, words.text('true')],
            [words.not(truth), words.text('false')],
          ],
          words.nothing('text'),
        ),
      )
    case 'date':
      return words.dateText(value.sql, false)
    case 'datetime':
      return words.dateText(compileToWall(value, build), true)
    case 'number':
      return build.once([value], (number) => numberToText(number, build))
  }
}

function numberToText<S>(number: S, build: Build<S>): S {
  const { words, constant } = build
  const magnitude = words.abs(number)
  const isWhole = words.compare('=', number, words.floor(number))
  return words.choose(
    [
      [words.compare('>=', magnitude, constant(EXACT)), signed(number, largeText(magnitude, build), build)],
      // Adding 0 makes 0 of its negative.
      [isWhole, words.digits(words.arithmetic('+', number, constant(0)))],
    ],
    fractionText(number, build),
  )
}

const signed = <S>(number: S, text: S, { words, constant }: Build<S>): S =>
  words.concat([
    words.choose([[words.compare('<', number, constant(0)), words.text('-')]], words.text('')),
    text,
  ])

/** 15 digits, and zeros to the point. */
function largeText<S>(magnitude: S, build: Build<S>): S {
  const { words, constant } = build
  const zeros = Array.from({ length: 20 }, (_, index) => index + 1)
  const cases = zeros
    .slice(0, -1)
    .map((count): [S, S] => [
      words.compare('<', words.divide(magnitude, constant(Number(`1e${count}`))), constant(1e15)),
      constant(count),
    ])
  return build.bind(words.choose(cases, constant(20)), 'number', (count) => {
    const scaled = words.divide(magnitude, words.powerOfTen(count))
    const digits = words.digits(words.floor(words.arithmetic('+', scaled, constant(0.5))))
    return words.concat([digits, words.part(words.text('0'.repeat(20)), constant(1), count)])
  })
}

const PADDING = '0'.repeat(21)

/** 15 digits, but at most 20 decimals, without zeros at the end. */
function fractionText<S>(number: S, build: Build<S>): S {
  const { words, constant } = build
  const magnitude = words.abs(number)
  const cases = Array.from({ length: 20 }, (_, decimals): [S, S] => [
    words.compare('>=', magnitude, constant(Number(`1e${14 - decimals}`))),
    constant(decimals),
  ])
  const decimals = words.choose(cases, constant(20))
  return build.bind(decimals, 'number', (places) => {
    const scaled = words.arithmetic('*', magnitude, words.powerOfTen(places))
    const digits = words.digits(words.floor(words.arithmetic('+', scaled, constant(0.5))))
    return build.bind(words.concat([words.text(PADDING), digits]), 'text', (padded) => {
      const wholeLength = words.arithmetic('-', words.length(padded), places)
      const wholePart = words.trimZeros(words.part(padded, constant(1), wholeLength), 'start')
      const from = words.arithmetic('+', wholeLength, constant(1))
      const fraction = words.trimZeros(words.part(padded, from, places), 'end')
      return build.bind(
        words.concat([wholePart, words.text('.'), fraction]),
        'text',
        // Between the two stands the point, for whole numbers at the end.
        (text) => tidied(number, text, build),
      )
    })
  })
}

function tidied<S>(number: S, text: S, build: Build<S>): S {
  const { words, constant } = build
  const length = words.length(text)
  const withoutPoint = words.part(text, constant(1), words.arithmetic('-', length, constant(1)))
  const isWhole = words.compare('=', words.position(text, words.text('.')), length)
  const startsAtPoint = words.compare('=', words.position(text, words.text('.')), constant(1))
  return words.choose(
    [
      [words.compareText('=', text, words.text('.')), words.text('0')],
      [isWhole, signed(number, withoutPoint, build)],
      [startsAtPoint, signed(number, words.concat([words.text('0'), text]), build)],
    ],
    signed(number, text, build),
  )
}
