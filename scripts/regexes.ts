import { join } from 'node:path'
import { type Token as AcornToken, tokenizer } from 'acorn'
import { Glob } from 'bun'
import { ROOT } from './project.ts'

/** Acorn's types omit `value`, which is an object for a regular expression. */
type Token = AcornToken & { value?: unknown }

/** Regular expressions of the product that are known to be linear, one per line. */
const RECORD = join(ROOT, 'tests', 'linear-regexes.txt')
const FOLDERS = ['src', 'modules', 'web']

/** A regular expression literal, `/\d+/g`, with the files that contain it. */
export interface Regex {
  pattern: string
  flags: string
  files: string[]
}

/** All regular expression literals of the product, by source text. */
export async function collectRegexes(): Promise<Map<string, Regex>> {
  const found = new Map<string, Regex>()
  for await (const { file, tokens } of tokensOfFiles()) {
    for (const token of tokens) {
      if (token.type.label !== 'regexp') continue
      const { pattern, flags } = token.value as Pick<Regex, 'pattern' | 'flags'>
      const text = `/${pattern}/${flags}`
      const known = found.get(text)
      if (!known) found.set(text, { pattern, flags, files: [file] })
      else if (!known.files.includes(file)) known.files.push(file)
    }
  }
  return found
}

/** Files that construct regular expressions at run time, which static analysis cannot check. */
export async function filesWithDynamicRegexes(): Promise<string[]> {
  const files = new Set<string>()
  for await (const { file, tokens } of tokensOfFiles()) {
    tokens.forEach((token, at) => {
      const isCall = token.value === 'RegExp' && tokens[at + 1]?.type.label === '('
      if (isCall) files.add(file)
    })
  }
  return [...files].sort()
}

async function* tokensOfFiles(): AsyncGenerator<{ file: string; tokens: Token[] }> {
  for (const folder of FOLDERS) {
    const names = [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(ROOT)].sort()
    for (const file of names) {
      const loader = file.endsWith('x') ? 'tsx' : 'ts'
      const transpiler = new Bun.Transpiler({ loader, deadCodeElimination: false })
      const code = transpiler.transformSync(await Bun.file(join(ROOT, file)).text())
      yield { file, tokens: [...tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })] }
    }
  }
}

/** Why a regular expression may take more than linear time, with an example text; null if it is linear. */
export async function findSlowness({ pattern, flags }: Regex): Promise<string | null> {
  // Otherwise recheck starts a native program on some platforms.
  process.env.RECHECK_BACKEND = 'pure'
  const { checkSync } = await import('recheck')
  const result = checkSync(pattern, flags, { timeout: 60_000 })
  if (result.status === 'safe') return null
  if (result.status === 'unknown') return `cannot be analysed (${result.error.kind}); write it more simply`
  return `takes ${result.complexity.summary} time, e.g. with ${result.attack.pattern}`
}

/** The recorded expressions, which need not be analysed again: an analysis can take seconds. */
export async function readLinearRegexes(): Promise<Set<string>> {
  return new Set((await Bun.file(RECORD).text()).split('\n').filter((line) => line !== ''))
}

if (import.meta.main) {
  const known = await readLinearRegexes()
  const linear: string[] = []
  for (const [text, regex] of await collectRegexes()) {
    const slowness = known.has(text) ? null : await findSlowness(regex)
    if (slowness === null) linear.push(text)
    else console.error(`${regex.files.join(', ')}: ${text} ${slowness}`)
  }
  await Bun.write(RECORD, `${linear.sort().join('\n')}\n`)
}
