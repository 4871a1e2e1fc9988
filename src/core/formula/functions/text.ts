import { m } from '../../messages.gen.ts'
import { trimCharacters } from '../../trim-characters.ts'
import type { Build, Value } from '../build.ts'
import { encodeUrl } from '../encode-url.ts'
import { type JsonPath, jsonAt, readJsonPath } from '../json-path.ts'
import { toLower, toUpper } from '../letters.ts'
import { compileReadNumber, readNumber, wholeArg } from '../numbers.ts'
import { MAX_PLACE, MAX_TEXT, whole } from '../semantics.ts'
import { argument, charactersOf, type Datum, defineFunction, NO_READING, texts } from './define.ts'

/** A value inside JSON. */
export const jsonExtract = defineFunction({
  name: 'JSON_EXTRACT',
  syntax: 'JSON_EXTRACT(json, path)',
  help: m.formula_json_extract_help,
  examples: {
    'JSON_EXTRACT(\'{"size": {"width": 12.50}}\', ".size.width")': '12.50',
    'JSON_EXTRACT(\'{"tags": ["a", "b"]}\', ".tags[1]")': 'b',
    'JSON_EXTRACT(\'{"tags": ["a", "b"]}\', ".tags")': '["a","b"]',
    'JSON_EXTRACT(\'{"tags": null}\', ".tags")': null,
  },
  args: ['json', 'jsonPath'],
  namesArguments: true,
  returns: 'text',
  evaluate: ([text, path]) => (text === null ? null : jsonAt(String(text), pathOf(path))),
  compile: (args, build) =>
    build.once([argument(args, 0, build, 'text')], (text) =>
      build.words.jsonAt(text, pathOf(args[1]?.constant)),
    ),
})

/** The path that the check has accepted. */
const pathOf = (written: unknown): JsonPath => readJsonPath(String(written)) ?? []

/** Parses a number such as -1.5 or 2e3; empty if the text is not a number. */
export const value = defineFunction({
  name: 'VALUE',
  syntax: 'VALUE(text)',
  help: m.formula_value_help,
  failure: 'possible',
  examples: { 'VALUE("12.50")': 12.5, 'VALUE(" -1e3 ")': -1000, 'VALUE("12 kg")': null },
  args: ['text'],
  unavailable: NO_READING,
  returns: 'number',
  range: () => ({ max: 140, min: -140 }),
  evaluate: ([value]) => readNumber(String(value ?? '')),
  compile: (args, build) => compileReadNumber(argument(args, 0, build, 'text'), build),
})

/** The texts one behind the other; empty ones are passed over. */
export const concat = defineFunction({
  name: 'CONCAT',
  syntax: 'CONCAT(text, …)',
  help: m.formula_concat_help,
  examples: { 'CONCAT("a", 1, true)': 'a1true', 'CONCAT("a", null)': 'a' },
  args: [],
  rest: ['joined'],
  min: 1,
  returns: 'text',
  evaluate: (args) => args.map((arg) => arg ?? '').join(''),
  compile: (args, build) => build.words.concat(args.map(({ sql }) => sql)),
})

/** The text without spaces at its ends. */
export const trim = defineFunction({
  name: 'TRIM',
  syntax: 'TRIM(text)',
  help: m.formula_trim_help,
  examples: { 'TRIM("  a b ")': 'a b' },
  args: ['text'],
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : trimCharacters(String(value), ' ')),
  compile: (args, build) => build.words.trim(argument(args, 0, build, 'text').sql),
})

/** The text in capitals. */
export const upper = defineFunction({
  name: 'UPPER',
  syntax: 'UPPER(text)',
  help: m.formula_upper_help,
  examples: { 'UPPER("abc é")': 'ABC É', 'UPPER("Σίσυφος, Straße")': 'ΣΊΣΥΦΟΣ, STRAßE' },
  args: ['text'],
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : toUpper(String(value))),
  compile: (args, build) => build.once([argument(args, 0, build, 'text')], (text) => build.words.upper(text)),
})

/** The text in small letters. */
export const lower = defineFunction({
  name: 'LOWER',
  syntax: 'LOWER(text)',
  help: m.formula_lower_help,
  examples: { 'LOWER("ABC É")': 'abc é', 'LOWER("ΣΊΣΥΦΟΣ")': 'σίσυφος' },
  args: ['text'],
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : toLower(String(value))),
  compile: (args, build) => build.once([argument(args, 0, build, 'text')], (text) => build.words.lower(text)),
})

/** How many characters the text has. */
export const len = defineFunction({
  name: 'LEN',
  syntax: 'LEN(text)',
  help: m.formula_len_help,
  examples: { 'LEN("abc")': 3, 'LEN("")': 0, 'LEN(BLANK())': 0 },
  args: ['joined'],
  returns: 'number',
  evaluate: ([value]) => charactersOf(String(value)).length,
  compile: (args, build) => build.words.length(argument(args, 0, build, 'text').sql),
})

/** The first characters of the text. */
export const left = defineFunction({
  name: 'LEFT',
  syntax: 'LEFT(text, count)',
  help: m.formula_left_help,
  examples: { 'LEFT("abcdef", 2)': 'ab', 'LEFT("a", -1)': '' },
  args: ['text', 'number'],
  returns: 'text',
  evaluate: ([text, count]) =>
    text === null || count === null
      ? null
      : charactersOf(String(text))
          .slice(0, whole(Number(count), 0, MAX_PLACE))
          .join(''),
  compile: (args, build) =>
    build.words.part(
      argument(args, 0, build, 'text').sql,
      build.constant(1),
      wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_PLACE).sql,
    ),
})

/** The last characters of the text. */
export const right = defineFunction({
  name: 'RIGHT',
  syntax: 'RIGHT(text, count)',
  help: m.formula_right_help,
  examples: { 'RIGHT("abcdef", 2)': 'ef', 'RIGHT("abc", 0)': '' },
  args: ['text', 'number'],
  returns: 'text',
  evaluate: ([text, count]) => {
    if (text === null || count === null) return null
    const characters = charactersOf(String(text))
    return characters.slice(Math.max(0, characters.length - whole(Number(count), 0, MAX_PLACE))).join('')
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const count = wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_PLACE)
    return build.once([argument(args, 0, build, 'text'), count], (text, last) => {
      const skipped = words.arithmetic('-', words.length(text), last)
      return words.choose(
        [[words.compare('<=', skipped, constant(0)), text]],
        words.part(
          text,
          words.choose(
            [[words.compare('>', skipped, constant(0)), words.arithmetic('+', skipped, constant(1))]],
            constant(1),
          ),
          last,
        ),
      )
    })
  },
})

/** Characters of the text from a place on, counted from 1. */
export const substr = defineFunction({
  name: 'SUBSTR',
  syntax: 'SUBSTR(text, from, [count])',
  help: m.formula_substr_help,
  examples: { 'SUBSTR("abcdef", 3)': 'cdef', 'SUBSTR("abcdef", 3, 2)': 'cd', 'SUBSTR("abc", 0, 1)': 'a' },
  args: ['text', 'number', 'number'],
  min: 2,
  returns: 'text',
  evaluate: (args) => partOf(args),
  compile: (args, build) => compilePart(args, build),
})

/** So many characters of the text from a place on, counted from 1. */
export const mid = defineFunction({
  name: 'MID',
  syntax: 'MID(text, from, count)',
  help: m.formula_mid_help,
  examples: { 'MID("abcdef", 3, 2)': 'cd', 'MID("abc", 2, 9)': 'bc' },
  args: ['text', 'number', 'number'],
  returns: 'text',
  evaluate: (args) => partOf(args),
  compile: (args, build) => compilePart(args, build),
})

/** The text so many times; empty where that would be longer than 100,000 characters. */
export const repeat = defineFunction({
  name: 'REPEAT',
  syntax: 'REPEAT(text, times)',
  help: m.formula_repeat_help,
  failure: 'possible',
  examples: { 'REPEAT("ab", 3)': 'ababab', 'REPEAT("ab", 0)': '' },
  args: ['text', 'number'],
  returns: 'text',
  evaluate: ([text, times]) => {
    if (text === null || times === null) return null
    const count = whole(Number(times), 0, MAX_TEXT + 1)
    return charactersOf(String(text)).length * count > MAX_TEXT ? null : String(text).repeat(count)
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const times = wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_TEXT + 1)
    return build.once([argument(args, 0, build, 'text'), times], (text, count) =>
      words.choose(
        [
          [words.or([words.isNull(text), words.isNull(count)]), words.nothing('text')],
          [
            words.or([words.compareText('=', text, words.text('')), words.compare('=', count, constant(0))]),
            words.text(''),
          ],
          [
            words.compare('>', words.arithmetic('*', words.length(text), count), constant(MAX_TEXT)),
            words.nothing('text'),
          ],
        ],
        words.repeat(text, count),
      ),
    )
  },
})

/** The text with every occurrence of what is to be found replaced. */
export const replace = defineFunction({
  name: 'REPLACE',
  syntax: 'REPLACE(text, find, replacement)',
  help: m.formula_replace_help,
  failure: 'possible',
  examples: { 'REPLACE("a-b-c", "-", "+")': 'a+b+c', 'REPLACE("abc", "", "x")': 'abc' },
  args: ['text', 'text', 'text'],
  returns: 'text',
  evaluate: (args) => {
    const values = texts(args)
    if (!values) return null
    const [text = '', find = '', by = ''] = values
    if (find === '' || !text.includes(find)) return text
    const result = text.replaceAll(find, () => by)
    return charactersOf(result).length > MAX_TEXT ? null : result
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const values = [0, 1, 2].map((index) => argument(args, index, build, 'text'))
    return build.once(values, (...texts) => {
      const [text, find, by] = texts as [S, S, S]
      const isAbsent = words.or([
        words.isNull(find),
        words.compareText('=', find, words.text('')),
        words.compare('=', words.position(text, find), constant(0)),
      ])
      const without = words.length(words.replace(text, find, words.text('')))
      const found = words.divide(words.arithmetic('-', words.length(text), without), words.length(find))
      const grown = words.arithmetic('-', words.length(by), words.length(find))
      const length = words.arithmetic('+', words.length(text), words.arithmetic('*', found, grown))
      return words.choose(
        [
          [words.or([words.isNull(text), words.isNull(find), words.isNull(by)]), words.nothing('text')],
          [isAbsent, text],
          [words.compare('>', length, constant(MAX_TEXT)), words.nothing('text')],
        ],
        words.replace(text, find, by),
      )
    })
  },
})

/** At which character the other text begins, counted from 1; 0 where it does not occur. */
export const search = defineFunction({
  name: 'SEARCH',
  syntax: 'SEARCH(text, find)',
  help: m.formula_search_help,
  examples: { 'SEARCH("abcabc", "c")': 3, 'SEARCH("abc", "C")': 0, 'SEARCH(BLANK(), "a")': 0 },
  args: ['joined', 'joined'],
  returns: 'number',
  evaluate: (args) => {
    const [text = '', find = ''] = args.map(String)
    const at = text.indexOf(find)
    return at < 0 ? 0 : charactersOf(text.slice(0, at)).length + 1
  },
  compile: (args, build) =>
    build.words.position(argument(args, 0, build, 'text').sql, argument(args, 1, build, 'text').sql),
})

/** Position of a text in another, counted from 1, from a given position on; 0 if it does not occur. */
export const find = defineFunction({
  name: 'FIND',
  syntax: 'FIND(find, text, [from])',
  help: m.formula_find_help,
  examples: { 'FIND("c", "abcabc")': 3, 'FIND("c", "abcabc", 4)': 6, 'FIND("C", "abc")': 0 },
  args: ['joined', 'joined', 'number'],
  min: 2,
  returns: 'number',
  evaluate: ([find, text, from]) => {
    if (from === null) return null
    const skipped = from === undefined ? 0 : whole(Number(from), 1, MAX_PLACE) - 1
    const rest = charactersOf(String(text)).slice(skipped).join('')
    const at = rest.indexOf(String(find))
    return at < 0 ? 0 : skipped + charactersOf(rest.slice(0, at)).length + 1
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const { words, constant } = build
    const [find, text] = [argument(args, 0, build, 'text'), argument(args, 1, build, 'text')]
    if (!args[2]) return words.position(text.sql, find.sql)
    const from = wholeArg(args[2], build, 1, MAX_PLACE)
    return build.once([text, find, from], (...bound) => {
      const [within, sought, start] = bound as [S, S, S]
      const found = words.position(words.part(within, start, constant(MAX_PLACE)), sought)
      return build.bind(found, 'number', (at) =>
        words.choose(
          [
            [words.isNull(start), words.nothing('number')],
            [words.compare('=', at, constant(0)), constant(0)],
          ],
          words.arithmetic('-', words.arithmetic('+', at, start), constant(1)),
        ),
      )
    })
  },
})

/** The text as a part of a URL: everything but letters A to Z, digits and - _ . ! ~ * ' ( ) in percent-encoding. */
export const encodeUrlComponent = defineFunction({
  name: 'ENCODE_URL_COMPONENT',
  syntax: 'ENCODE_URL_COMPONENT(text)',
  help: m.formula_encode_url_component_help,
  examples: {
    'ENCODE_URL_COMPONENT("a b & c/é")': 'a%20b%20%26%20c%2F%C3%A9',
    'ENCODE_URL_COMPONENT("it\'s (ok)!")': "it's%20(ok)!",
  },
  args: ['text'],
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : encodeUrl(String(value))),
  compile: (args, build) => build.words.encodeUrl(argument(args, 0, build, 'text').sql),
})

/** The text as a link that can be opened. */
export const url = defineFunction({
  name: 'URL',
  syntax: 'URL(text)',
  help: m.formula_url_help,
  examples: { 'URL("https://example.org")': 'URI::( https://example.org )' },
  args: ['text'],
  returns: 'text',
  evaluate: ([value]) => (value === null ? null : `URI::( ${value} )`),
  compile: (args, build) =>
    build.words.concat([
      build.words.text('URI::( '),
      argument(args, 0, build, 'text').sql,
      build.words.text(' )'),
    ]),
})

/** Characters of a text from a place on: to its end, or so many. */
function partOf([text, from, count]: Datum[]): string | null {
  if (text === null || from === null || count === null) return null
  const start = whole(Number(from), 1, MAX_PLACE) - 1
  const length = count === undefined ? MAX_PLACE : whole(Number(count), 0, MAX_PLACE)
  return charactersOf(String(text))
    .slice(start, start + length)
    .join('')
}

/** The same as SQL. */
function compilePart<S>(args: Value<S>[], build: Build<S>): S {
  const from = wholeArg(argument(args, 1, build, 'number'), build, 1, MAX_PLACE)
  const count = args[2] ? wholeArg(args[2], build, 0, MAX_PLACE).sql : build.constant(MAX_PLACE)
  return build.words.part(argument(args, 0, build, 'text').sql, from.sql, count)
}
