import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import messageFormat, { type Imported } from '@inlang/plugin-message-format'
import type { Plugin } from 'vite'
// Paraglide's compiler of single messages. The exported project compiler would fetch plugins from a CDN and
// keep texts in an SQLite database.
import { compileBundle } from '../node_modules/@inlang/paraglide-js/dist/compiler/compile-bundle.js'
import { textId } from '../src/core/message.ts'
import { ROOT } from './project.ts'

/*
 * Compiles the texts of `messages/<language>.json`, written in inlang's message format, with paraglide-js:
 *
 * - `messages.gen.ts` has every English text as a typed function of `m`: for TypeScript and the tests.
 * - `messages/<language>.gen.ts` has the texts of another language, which `catalogues.gen.ts` loads on
 *   demand.
 * - In the bundle, English texts replace `m.key`, so that each chunk contains only its own texts.
 *
 * Generated files are not committed: start, build, test and check regenerate them when a text has changed.
 */

/** Folders with texts for browsers, which the catalogues of other languages contain. */
const SHOWN_BY_BROWSERS = ['web', 'src/core']
/** Folders with texts in `messages/`; files import `m` from their `messages.gen.ts`. */
export const TEXT_FOLDERS = [...SHOWN_BY_BROWSERS, 'src']
const CATALOGUES_MODULE = 'web/catalogues.gen.ts'
const RUNTIME = 'src/core/message.ts'

/** One text in one language. */
export interface Message {
  key: string
  /** Short id in bundles and catalogues, independent of other texts. */
  id: string
  /** TypeScript type of each input, by name. */
  inputs: Record<string, string>
  /** Source of each variant, such as `{n} records`; a text without variants has one. */
  patterns: string[]
  /** The text as JavaScript: a string, or a function of the inputs. */
  code: string
  /** Violations of the message format. */
  problems: string[]
}

/** The compiled texts of a language, by key. */
export type Messages = ReadonlyMap<string, Message>

type Bundle = Parameters<typeof compileBundle>[0]['bundle']
type Variant = Imported['variants'][number]

/** The languages with a file of texts, without English. */
export const otherLanguages = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'en.json')
    .map((name) => basename(name, '.json'))
    .sort()

/** Compiles the texts of a file named for its language, such as `pt_BR.json`. */
export const compileFile = (path: string): Promise<Messages> =>
  compileMessages(readFileSync(path, 'utf8'), basename(path, '.json'))

/** Compiles texts in inlang's message format. */
export async function compileMessages(json: string, language: string): Promise<Messages> {
  const locale = language.replace('_', '-')
  const { bundles, messages, variants } = await messageFormat.importFiles({
    files: [{ locale, content: new TextEncoder().encode(json) }],
    settings: { baseLocale: locale, locales: [locale] },
  })
  const selectors = new Map(messages.map((message) => [message.bundleId, message.selectors]))
  const variantsByKey = Map.groupBy(variants, ({ messageBundleId }) => messageBundleId)
  return new Map(
    bundles.map(({ id, declarations }) => [
      id,
      compileMessage(id, locale, declarations, selectors.get(id) ?? [], variantsByKey.get(id) ?? []),
    ]),
  )
}

function compileMessage(
  key: string,
  locale: string,
  declarations: Bundle['declarations'],
  selectors: Bundle['messages'][number]['selectors'],
  written: Variant[],
): Message {
  // `other` matches all remaining plural forms. Sorted by specificity, because the first matching variant is used.
  const pluralForms = declarations.flatMap((one) =>
    one.type === 'local-variable' && one.value.annotation?.name === 'plural' ? [one.name] : [],
  )
  const variants = written
    .map((variant) => ({
      ...variant,
      matches: variant.matches.map((match) =>
        match.type === 'literal-match' && match.value === 'other' && pluralForms.includes(match.key)
          ? { type: 'catchall-match' as const, key: match.key }
          : match,
      ),
    }))
    .sort((a, b) => catchAlls(a) - catchAlls(b))
  const bundle = {
    id: key,
    declarations,
    messages: [
      {
        id: key,
        bundleId: key,
        locale,
        selectors,
        variants: variants.map((variant, index) => ({ ...variant, id: `${key} ${index}`, messageId: key })),
      },
    ],
  }
  const compiled = compileBundle({
    bundle,
    fallbackMap: { [locale]: undefined },
    messageReferenceExpression: (_, id) => id,
  })
  const inputs: Record<string, string> = {}
  for (const declaration of declarations) {
    if (declaration.type === 'input-variable')
      inputs[declaration.name] = inputType(declaration.name, declarations, compiled.matchTypes)
  }
  const isPlain = Object.keys(inputs).length === 0 && variants.length === 1
  return {
    key,
    id: messageId(key),
    inputs,
    patterns: written.map(({ pattern }) => patternText(pattern)),
    code: isPlain
      ? JSON.stringify(patternText(written[0]?.pattern ?? []))
      : withoutTypes(compiled.messages[locale]?.code ?? ''),
    problems: problemsOf(declarations, selectors, variants, pluralForms, locale),
  }
}

const catchAlls = ({ matches }: Pick<Variant, 'matches'>): number =>
  matches.filter(({ type }) => type === 'catchall-match').length

function inputType(
  name: string,
  declarations: Bundle['declarations'],
  matchTypes: ReturnType<typeof compileBundle>['matchTypes'],
): string {
  const isNumber = declarations.some(
    (one) =>
      one.type === 'local-variable' &&
      one.value.arg.type === 'variable-reference' &&
      one.value.arg.name === name &&
      NUMERIC.includes(one.value.annotation?.name ?? ''),
  )
  if (isNumber) return 'number'
  const match = matchTypes.get(name)
  if (!match || match.literals.size === 0) return 'string | number'
  return match.hasCatchAll
    ? 'string'
    : [...match.literals].map((literal) => JSON.stringify(literal)).join(' | ')
}

/** Functions of src/core/message.ts that a local variable may call. */
const NUMERIC = ['plural', 'number']

/** Five characters, unique among thousands of texts; the architecture test finds collisions. */
const messageId = (key: string): string =>
  new Bun.CryptoHasher('sha256').update(key).digest('base64url').slice(0, 5)

/** Paraglide's output without JSDoc types and superfluous guards. */
const withoutTypes = (code: string): string =>
  code
    .replace(/\/\*\* @type [^*]*\*\/ ?/g, '')
    .replace(/\bi\?\.(?=\w)/g, 'i.')
    .replace(/, \{\}\)/g, ')')
    .replace(/;\s*$/, '')

const patternText = (pattern: Variant['pattern']): string =>
  pattern
    .map((part) => {
      if (part.type === 'text') return part.value
      return part.type === 'expression' && part.arg.type === 'variable-reference'
        ? `{${part.arg.name}}`
        : '{?}'
    })
    .join('')

function problemsOf(
  declarations: Bundle['declarations'],
  selectors: readonly { name: string }[],
  variants: readonly Pick<Variant, 'matches' | 'pattern'>[],
  pluralForms: readonly string[],
  locale: string,
): string[] {
  const problems: string[] = []
  const declared = declarations.map(({ name }) => name)
  const used = new Set(selectors.map(({ name }) => name))
  for (const { pattern } of variants) {
    for (const part of pattern) {
      if (part.type === 'text') continue
      if (part.type !== 'expression' || part.arg.type !== 'variable-reference') problems.push('has markup')
      else used.add(part.arg.name)
    }
    if (variants.length > 1 && pattern.length === 0) problems.push('has an empty variant')
  }
  for (const declaration of declarations) {
    if (declaration.type === 'local-variable') {
      const { arg, annotation } = declaration.value
      if (arg.type === 'variable-reference' && used.has(declaration.name)) used.add(arg.name)
      if (!NUMERIC.includes(annotation?.name ?? ''))
        problems.push(`${declaration.name} calls ${annotation?.name}, not ${NUMERIC.join(' or ')}`)
    }
  }
  problems.push(...declared.filter((name) => !used.has(name)).map((name) => `${name} is not used`))
  if (!variants.some((variant) => catchAlls(variant) === variant.matches.length))
    problems.push('has no variant for the rest: `other` of a plural, `*` of a select')
  const categories = new Intl.PluralRules(locale).resolvedOptions().pluralCategories
  for (const form of pluralForms) {
    const forms = new Set(
      variants.flatMap(({ matches }) =>
        matches.flatMap((match) =>
          match.key === form && match.type === 'literal-match' ? [match.value] : [],
        ),
      ),
    )
    const missing = categories.filter((one) => one !== 'other' && !forms.has(one))
    const foreign = [...forms].filter((one) => !categories.some((category) => category === one))
    problems.push(...missing.map((one) => `lacks the plural form ${one}`))
    problems.push(...foreign.map((one) => `has the plural form ${one}, which ${locale} does not know`))
  }
  return [...new Set(problems)]
}

/** The module that exports `m` outside a bundle: every English text with its type. */
function messagesModule(folder: string, messages: Messages): string {
  const path = relative(folder, RUNTIME)
  const runtime = path.startsWith('.') ? path : `./${path}`
  const lines = [...messages.values()].map(({ key, id, inputs, patterns, code }) => {
    const comment = patterns.join(' | ').replaceAll('*/', '*\u200b/').replace(/\s+/g, ' ')
    return `  /** ${comment} */\n  ${key}: message${typeArgument(inputs)}(${JSON.stringify(id)}, ${code}),\n`
  })
  return `import { message } from '${runtime}'\nimport * as registry from '${runtime}'\n\nexport const m = {\n${lines.join('')}}\n`
}

function typeArgument(inputs: Record<string, string>): string {
  const names = Object.entries(inputs).map(([name, type]) => `${name}: ${type}`)
  return names.length > 0 ? `<{ ${names.join('; ')} }>` : ''
}

const catalogueModule = (messages: Messages, ids: ReadonlyMap<string, string>): string => {
  const lines = [...messages.values()].map(
    ({ key, code }) => `  ${JSON.stringify(ids.get(key) ?? key)}: ${code},\n`,
  )
  return `import type { Catalogue } from '../../${RUNTIME}'\nimport * as registry from '../../${RUNTIME}'\n\nconst texts: Catalogue = {\n${lines.join('').replaceAll('(i) =>', '(i: any) =>')}}\nexport default texts\n`
}

const cataloguesModule = (languages: readonly string[]): string =>
  `import type { Catalogue } from '../${RUNTIME}'\n\n/** Languages with texts of their own, each loaded when it is chosen. */\nexport const CATALOGUES: Record<string, () => Promise<{ default: Catalogue }>> = {\n${languages
    .map((language) => `  ${JSON.stringify(language)}: () => import('./messages/${language}.gen.ts'),\n`)
    .join('')}}\n`

/**
 * The English texts of a project by folder. A unique text without inputs gets an id computed from its text
 * (`textId`), which bundles can omit.
 */
export async function compileEnglish(root: string): Promise<Map<string, Messages>> {
  const folders = new Map<string, Messages>()
  for (const folder of TEXT_FOLDERS)
    folders.set(folder, await compileFile(join(root, folder, 'messages', 'en.json')))
  const all = [...folders.values()].flatMap((messages) => [...messages.values()])
  for (const [code, same] of Map.groupBy(all, ({ code }) => code)) {
    const [message] = same
    if (message && same.length === 1 && code.startsWith('"')) message.id = textId(message.patterns[0] ?? '')
  }
  return folders
}

const isFoundByWords = ({ id, code, patterns: [pattern = ''] }: Message): boolean =>
  code.startsWith('"') && id === textId(pattern)

/** Writes the generated modules that have changed. */
export async function generateMessages(root = ROOT): Promise<void> {
  const folders = await compileEnglish(root)
  for (const [folder, english] of folders)
    await writeIfChanged(join(root, folder, 'messages.gen.ts'), messagesModule(folder, english))
  const ids = new Map(
    [...folders.values()].flatMap((messages) =>
      [...messages.values()].map(({ key, id }) => [key, id] as const),
    ),
  )
  const languages = otherLanguages(join(root, 'web/messages'))
  await writeIfChanged(join(root, CATALOGUES_MODULE), cataloguesModule(languages))
  for (const language of languages) {
    const texts = SHOWN_BY_BROWSERS.map((folder) =>
      compileFile(join(root, folder, 'messages', `${language}.json`)),
    )
    const messages = new Map((await Promise.all(texts)).flatMap((one) => [...one]))
    await writeIfChanged(join(root, 'web/messages', `${language}.gen.ts`), catalogueModule(messages, ids))
  }
}

async function writeIfChanged(path: string, text: string): Promise<void> {
  const file = Bun.file(path)
  if (!(await file.exists()) || (await file.text()) !== text) await Bun.write(path, text)
}

/** The keys used in a source file. Texts may only be used as `m.key`, the form that bundler and check recognize. */
export const usedKeys = (source: string): string[] => [
  ...new Set([...source.matchAll(/(?<![\w.$])m\s*\.\s*([a-z]\w*)/g)].map((match) => match[1] ?? '')),
]

const IMPORT_OF_M = /import \{ m \} from '([^']*\/messages\.gen\.ts)'/
const USE_OF_M = /(?<![\w.$])m\.([a-z]\w*)(\()?/g

/**
 * Replaces `m.key` with the English text, so that each file contains only the texts that it uses: `m.common_cancel()`
 * becomes `text('Cancel')`.
 */
export function ownMessages(): Plugin {
  const compiled = new Map<string, ReturnType<typeof compileEnglish>>()
  return {
    name: 'own-messages',
    enforce: 'pre',
    async transform(source, path) {
      const [, module = null] = IMPORT_OF_M.exec(source) ?? []
      if (module === null) return null
      const folder = dirname(resolve(dirname(path), module))
      const textFolder = TEXT_FOLDERS.find((one) => folder.endsWith(`/${one}`)) ?? ''
      const root = folder.slice(0, -textFolder.length)
      const english = compiled.get(root) ?? compileEnglish(root)
      compiled.set(root, english)
      const messages = (await english).get(textFolder)
      const runtime = JSON.stringify(join(root, RUNTIME))
      const code = source
        .replace(
          IMPORT_OF_M,
          () =>
            `import { message as $message, text as $text } from ${runtime}; import * as $registry from ${runtime}`,
        )
        .replace(USE_OF_M, (use, key: string, call: string | undefined) => {
          const message = messages?.get(key)
          if (!message) return use
          const words = message.code.replaceAll('registry.', '$registry.')
          const id = JSON.stringify(message.id)
          if (!call) return `$message(${id}, ${words})`
          return isFoundByWords(message) ? `$text(${words}` : `$text(${words}, ${id},`
        })
      return { code, map: null }
    },
  }
}
