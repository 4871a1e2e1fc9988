import { describe, expect, test } from 'bun:test'
import { MAX_JSON_DEPTH } from '../src/core/json-text.ts'
import { parseJsonInTurns } from '../src/parse-json.ts'

/** Numbers below 1 that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const KEYS = ['a', 'b"', '__proto__', 'long key', '7', '', 'brackets ]}{[', '\\']
const TEXTS = ['', 'plain', 'quo"te', 'back\\', '\\"', '[{,:]}', 'é😀', '\u0000\n', 'x'.repeat(300)]

/** A value of some `size` characters as JSON, with blanks here and there. */
function makeJson(random: () => number, size: number, depth = 0): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const blank = () => pick(['', '', '', ' ', '\n\t', '\r'])
  if (size < 40 || depth > 6)
    return pick([
      () => JSON.stringify(pick(TEXTS)),
      () => String(random() * 1e6),
      () => pick(['true', 'null', '-0', '1e3', '[]', '{}']),
    ])()
  const isList = random() < 0.5
  const items: string[] = []
  for (let left = size; left > 0; ) {
    // Some items take nearly all, most take little.
    const share = random() < 0.1 ? left * random() : Math.min(left, random() * 400)
    const value = makeJson(random, share, depth + 1)
    const key = isList
      ? ''
      : `${JSON.stringify(random() < 0.2 ? pick(KEYS) : `k${items.length}`)}${blank()}:${blank()}`
    items.push(`${blank()}${key}${value}${blank()}`)
    left -= value.length + key.length + 1
  }
  return isList ? `[${items.join(',')}]` : `{${items.join(',')}}`
}

const outcome = async (parse: () => unknown) => {
  try {
    return { value: await parse() }
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return { value: 'refused' }
  }
}

describe('parsing JSON in turns', () => {
  test('gives what JSON.parse gives, whatever the shape', async () => {
    const random = randomFrom(7)
    for (let run = 0; run < 25; run++) {
      const text = `${' '.repeat(run % 3)}${makeJson(random, 700_000)}${'\n'.repeat(run % 2)}`
      expect(await parseJsonInTurns(text)).toStrictEqual(JSON.parse(text))
    }
  })

  test('refuses what JSON.parse refuses, wherever the fault is', async () => {
    const random = randomFrom(11)
    let refusals = 0
    for (let run = 0; run < 60; run++) {
      const text = makeJson(random, 500_000)
      const signs = [',', ':', '{', '}', '[', ']', '"', ' ', '1', '\\', '']
      // Mostly at the signs that the structure depends on.
      let at = Math.floor(random() * text.length)
      while (random() < 0.95 && !/[[\]{},:"]/.test(text[at] ?? '')) at = (at + 1) % text.length
      const faulty = text.slice(0, at) + signs[run % signs.length] + text.slice(at + (random() < 0.5 ? 1 : 0))
      const expected = await outcome(() => JSON.parse(faulty))
      if (expected.value === 'refused') refusals++
      expect(await outcome(() => parseJsonInTurns(faulty))).toStrictEqual(expected)
    }
    expect(refusals).toBeGreaterThan(20)
  })

  const large = JSON.stringify(Array.from({ length: 5_000 }, (_, at) => ({ at, text: 'x'.repeat(60) })))

  test.each([
    ['cut off', large.slice(0, -1)],
    ['cut off in a text', large.slice(0, -10)],
    ['a comma before the end', `${large.slice(0, -1)},]`],
    ['two commas', large.replaceAll('},{', '},,{')],
    ['no comma', large.replaceAll('},{', '} {')],
    ['something behind it', `${large} 1`],
    ['two values', `${large}${large}`],
    ['the wrong bracket', `${large.slice(0, -1)}}`],
    ['a list as a key', `{${large}:1}`],
    ['a list without a key', `{"a":1,${large}}`],
    ['a value before a list', `{"a":1${large}}`],
    ['a list behind a list', `{"a":${large}${large}}`],
    ['a comma behind the last member', `{"a":${large},}`],
    ['only blanks', ' '.repeat(500_000)],
  ])('refuses %s', async (_, text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    await expect(parseJsonInTurns(text)).rejects.toThrow(SyntaxError)
  })

  test('refuses deep nesting, and takes a long text as a value', async () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${large}${']'.repeat(depth)}`
    await expect(parseJsonInTurns(nested(MAX_JSON_DEPTH))).rejects.toThrow('nested more than')
    expect(await parseJsonInTurns(nested(20))).toStrictEqual(JSON.parse(nested(20)))
    const long = 'x\\"[,'.repeat(200_000)
    expect(await parseJsonInTurns(`["${long}"]`)).toEqual(JSON.parse(`["${long}"]`))
    expect(await parseJsonInTurns(`"${long}"`)).toEqual(JSON.parse(`"${long}"`))
  })

  test('lets others in between', async () => {
    const text = JSON.stringify(Array.from({ length: 100 }, () => JSON.parse(large)))
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await parseJsonInTurns(text)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })
})
