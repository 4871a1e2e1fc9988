import { dirname, join } from 'node:path'
import { type Messages, usedKeys } from '../messages.ts'
import type { SourceFile } from './rules.ts'

const IMPORT = /import\s*\{[^}]*\bm\b[^}]*\}\s*from\s*['"]([^'"]*\/messages\.gen\.ts)['"]/
/** `area_what_it_says`: the area, then enough of the text to recognize it in code. */
const KEY = /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/

/** The module from which a file imports texts, such as `web/messages.gen.ts`; null if it imports none. */
function moduleOfTexts({ path, text }: SourceFile): string | null {
  const specifier = IMPORT.exec(text)?.[1]
  return specifier === undefined ? null : join(dirname(path), specifier)
}

/** Malformed and unused texts of a folder. TypeScript finds missing and superfluous inputs. */
export function findMessageProblems(
  folder: string,
  english: Messages,
  sources: readonly SourceFile[],
): string[] {
  const problems: string[] = []
  for (const { key, problems: written } of english.values()) {
    if (!KEY.test(key)) problems.push(`${key}: is not written as area_what_it_says`)
    problems.push(...written.map((problem) => `${key}: ${problem}`))
  }
  const used = new Set<string>()
  for (const file of sources) {
    if (moduleOfTexts(file) !== `${folder}/messages.gen.ts`) continue
    const { path, text } = file
    for (const key of usedKeys(text)) {
      used.add(key)
      // Keys have an underscore; without one it is a property of another `m`, which TypeScript checks.
      if (key.includes('_') && !english.has(key)) problems.push(`${path}: there is no text ${key}`)
    }
    const other = text.match(/(?<![\w.$'"])m\s*(\[|\?\.)|(\.\.\.|=\s*)m\s*[,;)\n}]/)
    if (other) problems.push(`${path}: takes a text other than by m.key, so that a bundle would lack it`)
  }
  for (const key of english.keys()) if (!used.has(key)) problems.push(`${key}: is not used`)
  return problems
}

/** Texts with straight quotes or apostrophes. Keys that start with `wire_` hold exact texts of the REST API. */
export const findStraightQuotes = (english: Messages): string[] =>
  [...english.values()]
    .filter(({ key }) => !key.startsWith('wire_'))
    .flatMap(({ key, patterns }) => patterns.map((pattern) => ({ key, pattern })))
    .filter(({ pattern }) => /["']/.test(pattern))
    .map(({ key, pattern }) => `${key}: has straight quotes: ${pattern}`)

/** Texts of all folders with colliding ids. */
export function findSharedIds(catalogues: readonly Messages[]): string[] {
  const texts = catalogues.flatMap((messages) => [...messages.values()])
  return [...Map.groupBy(texts, ({ id }) => id).values()]
    .filter(({ length }) => length > 1)
    .map((shared) => `${shared.map(({ key }) => key).join(' and ')} have the same id: rename one of them`)
}

/** Structural differences of another language's texts from the English ones. */
export function findTranslationProblems(english: Messages, language: string, texts: Messages): string[] {
  const problems: string[] = []
  for (const [key, { inputs }] of english) {
    const text = texts.get(key)
    if (!text) {
      problems.push(`${language}: ${key} is missing`)
      continue
    }
    problems.push(...text.problems.map((problem) => `${language}: ${key} ${problem}`))
    const names = (of: Record<string, string>) => Object.keys(of).sort().join(', ')
    if (names(text.inputs) !== names(inputs))
      problems.push(`${language}: ${key} has the inputs ${names(text.inputs)}, not ${names(inputs)}`)
  }
  for (const key of texts.keys())
    if (!english.has(key)) problems.push(`${language}: ${key} is not in en.json`)
  return problems
}

/** Duplicate and unsorted keys of a file. */
export function findUnsortedKeys(json: string): string[] {
  const keys = [...json.matchAll(/^ {2}"([^"]+)":/gm)].map((match) => match[1] ?? '')
  return keys.filter((key, index) => index > 0 && key <= (keys[index - 1] ?? ''))
}
