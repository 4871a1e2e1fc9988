import { basename } from 'node:path'
import { FIELD_TYPE_NAMES } from '../../src/core/fields/index.ts'
import { VIEW_KINDS } from '../../src/core/views/index.ts'
import { findImports, type Import } from './find-imports.ts'
import { findShortTimeouts } from './short-timeouts.ts'

/** A source file. */
export interface SourceFile {
  /** Relative to the project, e.g. `modules/views/service.ts`. */
  path: string
  text: string
}

/** A rule for source files. */
export interface Rule {
  /** Name in test failures. */
  name: string
  /** Descriptions of a file's violations. */
  check(file: SourceFile): string[]
}

/** Each module may import earlier ones. */
const MODULES = [
  'auth',
  'bases',
  'schema',
  'views',
  'records',
  'shares',
  'imports',
  'base-imports',
  'trash',
  'storage',
  'indexes',
  'plugins',
  'notifications',
  'comments',
  'activity',
  'hooks',
  'base-files',
  'backups',
]
/** Folders of a module in order: each may import earlier ones through their `index.ts`. */
const FOLDERS: Record<string, readonly string[]> = {
  auth: ['rest'],
  bases: ['rest'],
  shares: ['rest'],
  imports: ['readers', 'rest'],
  'base-imports': ['sources', 'writer', 'rest'],
  trash: ['rest'],
  indexes: ['rest'],
  plugins: ['chat', 'rest'],
  notifications: ['rest'],
  comments: ['rest'],
  activity: ['rest'],
  'base-files': ['rest'],
  hooks: ['channels', 'deliveries', 'rest'],
  backups: ['rest'],
  schema: [
    'model',
    'computed',
    'change',
    'tables',
    'links',
    'fields',
    'trash',
    'rewind',
    'duplicate',
    'sync',
    'rest',
  ],
  views: ['model', 'fields', 'settings', 'lifecycle', 'rest'],
  records: [
    'table',
    'foreign',
    'rows',
    'read',
    'links',
    'attachments',
    'write',
    'history',
    'feed',
    'activity',
    'export',
    'rest',
    'starter',
  ],
}
/** The files of src that know all modules. */
const TOP = ['src/main.ts', 'src/app.ts', 'src/router.ts']
/**
 * Layers of the web app from the bottom up; each may import itself and those below. The first includes the
 * files directly in `web`, such as `trpc.ts`; the last are the page entries and workers.
 */
const WEB_LAYERS = [
  ['session', 'navigation', 'locales', 'messages'],
  ['ui'],
  ['actions', 'attachments', 'map', 'rich-text'],
  ['cells'],
  ['grid'],
  ['records'],
  ['features'],
  ['routes'],
  ['workers', 'main.tsx', 'public-form.tsx', 'public-share.tsx'],
]
/**
 * Features in order: each may import itself and earlier ones. `views` and `records` are listed by subfolder,
 * because reading records needs a view's filter, and drawing a view needs records.
 */
const FEATURES = [
  'layout',
  'presence',
  'watches',
  'sources',
  'storage',
  'indexes',
  'exports',
  'imports',
  'auth',
  'views/controls',
  'formula',
  'copies',
  'schema',
  'views/state',
  'views/filter',
  'views/sort',
  'views/coloring',
  'views/fields',
  'views/icons',
  'forms',
  'tables',
  'shares',
  'records/bars',
  'records/context',
  'records/undo',
  'views/manage',
  'records/commands',
  'records/groups',
  'records/paste',
  'records/menus',
  'records/comments',
  'records/panel',
  'records/toolbar',
  'records/screen',
  'views/cards',
  'views/kinds',
  'erd',
  'members',
  'base-imports',
  'bases',
  'history',
  'trash',
  'comments',
  'plugins',
  'backups',
  'notifications',
  'hooks',
  'account',
  'shares/public',
  'shell',
]
const CORE_PACKAGES = ['zod', 'zod/mini', 'typescript-parsec', 'papaparse']
const DRIVERS =
  /^(bun:sqlite|postgres|mysql2|mssql|tedious|oracledb|snowflake-sdk|drizzle-orm\/(bun-sqlite|postgres-js|mysql2))(\/|$)/
/** Names that only REST clients use. */
const WIRE_NAMES = /\b(uidt|fk_[a-z_]+|pageInfo|comparison_(sub_)?op|logical_op)\b/
const CDN = /https?:\/\/[^'"`\s)]*(cdn|unpkg|esm\.sh|skypack|googleapis|gstatic|fonts\.)/i
const LOADED_FROM_ELSEWHERE = /(<(script|link|img)\b[^>]*\b(src|href)=|url\(|@import)\s*['"]?https?:/i

const inFolder = (path: string, ...folders: string[]) =>
  folders.some((folder) => path.startsWith(`${folder}/`))
const isProduct = ({ path }: SourceFile) => inFolder(path, 'src', 'modules', 'web')
const isScript = ({ path }: SourceFile) => /\.tsx?$/.test(path)
/** Files that may use REST names. */
const isEdge = (path: string) =>
  inFolder(path, 'src/wire') ||
  /^modules\/[a-z-]+\/rest\//.test(path) ||
  // A client of the same API.
  /^modules\/base-imports\/sources\/nocodb(-[a-z]+)?\.ts$/.test(path)
const moduleOf = (path: string) => (path.startsWith('modules/') ? path.split('/')[1] : undefined)

/** Registries with one entry per field type; all other code checks traits (`field-type.ts`). */
const TYPE_REGISTRIES = [
  // Column properties per type in REST.
  /^modules\/schema\/(.+\/)?(present|wire-(computed|meta|column-type|field))\.ts$/,
  // Some types of Grist and all of NocoDB have the names of ours.
  'modules/base-imports/sources/grist.ts',
  'modules/base-imports/sources/nocodb-fields.ts',
  'modules/base-imports/sources/nocodb.ts',
  // NocoDB names the inputs of plugins like field types.
  'modules/plugins/rest/present.ts',
  // Number formats of workbooks.
  'src/record-files/number-formats.ts',
  'web/cells/index.ts',
  'web/features/forms/answers/answer-input.tsx',
  'web/features/forms/answers/common-cells.ts',
  'web/features/forms/answers/early-answer.tsx',
  'web/features/forms/answers/form-cells.ts',
  'web/features/schema/options/options-editor.tsx',
]
/** Files in which such words are not field types: object kinds in errors, and MySQL column types. */
const OTHER_WORDS = ['src/core/errors.ts', 'src/db/mysql/driver.ts']
const TYPE = `['"](${FIELD_TYPE_NAMES.join('|')})['"]`
const TYPE_KEY = `\\n\\s*(${FIELD_TYPE_NAMES.join('|')}): .*`
const TYPE_BY_NAME = new RegExp(
  [
    `[!=]==?\\s*${TYPE}`,
    `${TYPE}\\s*[!=]==?`,
    `\\bcase\\s+${TYPE}`,
    // Lists and tables with more than one type.
    `\\[\\s*${TYPE}\\s*,\\s*${TYPE}`,
    `${TYPE_KEY}${TYPE_KEY}`,
  ].join('|'),
  'g',
)

/** Folders of the registries of view kinds. */
const KIND_FOLDERS = ['src/core/views', 'modules/views/rest/kinds', 'web/features/views/kinds']
const KIND = `['"](${Object.keys(VIEW_KINDS).join('|')})['"]`
// No other `kind` shares its name with a view kind.
const KIND_BY_NAME = new RegExp(`kind\\s*[!=]==?\\s*${KIND}|\\bcase\\s+${KIND}`, 'gi')

/** The architecture rules that apply to single files. */
export const RULES: Rule[] = [
  importRule(
    'src/core imports only packages without a platform (zod, papaparse, …) and src/core',
    ({ path }) => inFolder(path, 'src/core'),
    ({ target }) => inFolder(target, 'src/core') || CORE_PACKAGES.includes(target),
  ),
  lineRule(
    'src/core uses neither Bun, Node nor the browser',
    ({ path }) => inFolder(path, 'src/core'),
    (line) => /(?<![\w.'"`])(Bun|process|document|window|localStorage)\.[a-z]/.test(line),
  ),
  importRule(
    'the kernel knows no module, and neither the web nor its own top files',
    ({ path }) => inFolder(path, 'src') && !TOP.includes(path),
    ({ target }) => !inFolder(target, 'modules', 'web') && !TOP.includes(target),
  ),
  importRule(
    'a module imports no top file of src and nothing of web',
    ({ path }) => inFolder(path, 'modules'),
    ({ target }) => !TOP.includes(target) && !inFolder(target, 'web'),
  ),
  importRule(
    "a module imports another's index.ts and only of an earlier one; tables.ts may import another's tables.ts",
    ({ path }) => inFolder(path, 'modules'),
    ({ target }, { path }) => mayCall(path, target),
  ),
  importRule(
    "a folder of a module imports another's index.ts and only of an earlier one",
    ({ path }) => inFolder(path, 'modules'),
    ({ target }, { path }) => mayCallFolder(path, target),
  ),
  importRule(
    "the edge of a module (rest/) is imported by the module's index.ts only",
    ({ path }) => inFolder(path, 'modules'),
    ({ target }, { path }) => mayCallEdge(path, target),
  ),
  importRule(
    'the vocabulary of the REST API (src/wire) is imported at the edge of a module and by src/app.ts only',
    (file) => isProduct(file) && !isEdge(file.path) && file.path !== 'src/app.ts',
    ({ target }) => !inFolder(target, 'src/wire'),
  ),
  lineRule(
    'names of the REST API (uidt, fk_…, pageInfo, comparison_op, …) appear only at the edge of a module and in src/wire',
    ({ path }) => inFolder(path, 'modules', 'src') && !isEdge(path),
    (line) => WIRE_NAMES.test(line),
  ),
  importRule(
    'web imports only src/core and `type AppRouter` of the server',
    ({ path }) => inFolder(path, 'web'),
    ({ target, clause }) =>
      !inFolder(target, 'src', 'modules', 'scripts', 'tests') ||
      inFolder(target, 'src/core') ||
      (target === 'src/router.ts' && /^(type \{ AppRouter \}|\{ type AppRouter \})$/.test(clause)),
  ),
  importRule(
    'a layer of web imports only itself and those below: session, navigation ← ui ← actions, attachments, map, rich-text ← cells ← grid ← records ← features ← routes',
    ({ path }) => inFolder(path, 'web'),
    ({ target }, { path }) => !inFolder(target, 'web') || webLayer(target) <= webLayer(path),
  ),
  importRule(
    'a feature of web imports only itself and those before it in FEATURES; each has its line there',
    ({ path }) => inFolder(path, 'web/features'),
    ({ target }, { path }) => !inFolder(target, 'web/features') || feature(target) <= feature(path),
  ),
  importRule(
    'only src/dialects and src/db import a database driver',
    (file) => isProduct(file) && !inFolder(file.path, 'src/dialects', 'src/db'),
    ({ target }) => !DRIVERS.test(target),
  ),
  lineRule(
    'only src/dialects asks which database it is',
    (file) => isProduct(file) && !inFolder(file.path, 'src/dialects'),
    (line) =>
      /\bclient\s*[!=]==?(?!=)\s*(?!null\b|undefined\b|\s)/.test(line) ||
      /switch\s*\([^)]*\bclient\s*\)/.test(line),
  ),
  textRule(
    'a field type is asked for a trait, never for its name, outside src/core/fields and the registries of types',
    (file) =>
      isProduct(file) &&
      !inFolder(file.path, 'src/core/fields') &&
      !isOneOf(file.path, TYPE_REGISTRIES) &&
      !OTHER_WORDS.includes(file.path),
    TYPE_BY_NAME,
  ),
  textRule(
    'a kind of view is asked for a capability, never for its name, outside the registries of kinds',
    (file) => isProduct(file) && !inFolder(file.path, ...KIND_FOLDERS),
    KIND_BY_NAME,
  ),
  lineRule(
    "only src/db/change-log names the change log's tables",
    (file) => isProduct(file) && !inFolder(file.path, 'src/db/change-log'),
    (line) => /\bsheaf_change(s|_records)\b/.test(line),
  ),
  lineRule(
    'no object literal is spread into another: its properties are written one by one',
    (file) => isProduct(file) && isScript(file),
    (line) => line.includes('...{'),
  ),
  textRule(
    'no array literal is spread into another: its elements are written one by one',
    (file) => isProduct(file) && isScript(file),
    /\.\.\.\[[^[\]]*\](?=\s*[,\])])/g,
  ),
  lineRule(
    'web sets no raw HTML',
    ({ path }) => inFolder(path, 'web'),
    (line) => /dangerouslySetInnerHTML|\.(inner|outer)HTML\s*=|insertAdjacentHTML/.test(line),
  ),
  lineRule(
    'web loads nothing from another server',
    ({ path }) => inFolder(path, 'web'),
    (line) => CDN.test(line) || LOADED_FROM_ELSEWHERE.test(line),
  ),
  {
    name: 'the timeout of a test or hook is longer than that of the run (scripts/test/timeouts.ts), or absent',
    check: (file) => (/\.test\.tsx?$/.test(file.path) ? findShortTimeouts(file) : []),
  },
  {
    name: 'file names are kebab-case',
    check({ path }) {
      // Locales are named by their code.
      if (inFolder(path, 'web/locales')) return []
      return /^[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(path)) ? [] : [basename(path)]
    },
  },
]

/** All violations in a file, as `path: violation (rule)`. */
export function findViolations(file: SourceFile, rules: readonly Rule[] = RULES): string[] {
  return rules.flatMap((rule) => rule.check(file).map((what) => `${file.path}: ${what} (${rule.name})`))
}

function importRule(
  name: string,
  applies: (file: SourceFile) => boolean,
  allows: (imported: Import, file: SourceFile) => boolean,
): Rule {
  return {
    name,
    check: (file) =>
      applies(file) && isScript(file)
        ? findImports(file.path, file.text)
            .filter((imported) => !allows(imported, file))
            .map(({ target, clause }) => `imports ${clause && `${clause} from `}${target}`)
        : [],
  }
}

function lineRule(
  name: string,
  applies: (file: SourceFile) => boolean,
  breaks: (line: string) => boolean,
): Rule {
  return {
    name,
    check(file) {
      if (!applies(file)) return []
      return file.text.split('\n').flatMap((line, index) => {
        const isComment = /^\s*(\/\/|\/?\*)/.test(line)
        return !isComment && breaks(line) ? [`line ${index + 1}: ${line.trim()}`] : []
      })
    },
  }
}

/** A rule that forbids matches of a pattern outside comments. */
function textRule(name: string, applies: (file: SourceFile) => boolean, pattern: RegExp): Rule {
  return {
    name,
    check(file) {
      if (!applies(file)) return []
      return [...file.text.matchAll(pattern)].flatMap(({ 0: match, index }) => {
        const start = file.text.lastIndexOf('\n', index) + 1
        const isComment = /^\s*(\/\/|\/?\*)/.test(file.text.slice(start, index + 1))
        const line = file.text.slice(0, index).split('\n').length
        return isComment ? [] : [`line ${line}: ${match.trim()}`]
      })
    },
  }
}

const isOneOf = (path: string, candidates: readonly (string | RegExp)[]): boolean =>
  candidates.some((one) => (typeof one === 'string' ? one === path : one.test(path)))

/** Index in `WEB_LAYERS` of a file's layer; -1 for a folder that is not listed, which may then import no layer. */
function webLayer(path: string): number {
  const [, part = '', inside] = path.split('/')
  const layer = WEB_LAYERS.findIndex((names) => names.includes(part))
  return layer === -1 && inside === undefined ? 0 : layer
}

/** Index in `FEATURES` of the longest matching folder; -1 for a folder that is not listed. */
function feature(path: string): number {
  const inside = path.replace('web/features/', '')
  const fitting = FEATURES.filter((folder) => inside.startsWith(`${folder}/`))
  return FEATURES.indexOf(fitting.toSorted((a, b) => b.length - a.length)[0] ?? '')
}

function mayCall(path: string, target: string): boolean {
  const [from, to] = [moduleOf(path), moduleOf(target)]
  if (from === undefined || to === undefined || from === to) return true
  // Foreign keys may point either way; Drizzle resolves them lazily.
  if (path === `modules/${from}/tables.ts` && target === `modules/${to}/tables.ts`) return true
  return (
    target === `modules/${to}/index.ts` &&
    MODULES.includes(from) &&
    MODULES.indexOf(to) < MODULES.indexOf(from)
  )
}

/** Other modules import an edge through its module's `index.ts`. */
function mayCallEdge(path: string, target: string): boolean {
  const edge = /^modules\/[a-z-]+\/rest\//.exec(target)?.[0]
  if (edge === undefined || moduleOf(path) !== moduleOf(target)) return true
  return path.startsWith(edge) || path === `modules/${moduleOf(path)}/index.ts`
}

/** The folder of a module whose folders have an order, e.g. `['records', 'read']`. */
function folderOf(path: string): [module: string, folder: string] | undefined {
  const [top, module = '', folder, file] = path.split('/')
  if (top !== 'modules' || folder === undefined || file === undefined) return undefined
  return FOLDERS[module]?.includes(folder) ? [module, folder] : undefined
}

function mayCallFolder(path: string, target: string): boolean {
  const [from, to] = [folderOf(path), folderOf(target)]
  if (to === undefined || moduleOf(path) !== to[0] || from?.[1] === to[1]) return true
  const order = FOLDERS[to[0]] ?? []
  return (
    target === `modules/${to[0]}/${to[1]}/index.ts` &&
    (from === undefined || order.indexOf(to[1]) < order.indexOf(from[1]))
  )
}
