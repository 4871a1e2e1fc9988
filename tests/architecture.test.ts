import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { findCycles } from '../scripts/architecture/cycles.ts'
import { findLiteralErrorTexts } from '../scripts/architecture/error-texts.ts'
import {
  findMessageProblems,
  findSharedIds,
  findStraightQuotes,
  findTranslationProblems,
  findUnsortedKeys,
} from '../scripts/architecture/messages.ts'
import { findViolations, RULES, type SourceFile } from '../scripts/architecture/rules.ts'
import {
  compileEnglish,
  compileFile,
  compileMessages,
  otherLanguages,
  TEXT_FOLDERS,
} from '../scripts/messages.ts'
import { editedSteps, hashSteps, RELEASED_STEPS } from './support/released-steps.ts'

const ROOT = join(import.meta.dir, '..')
const SOURCES = '{src,modules,web,tests,scripts}/**/*.{ts,tsx,css,html}'

async function readSources(): Promise<SourceFile[]> {
  const paths = [...new Bun.Glob(SOURCES).scanSync(ROOT)].filter((path) => !path.endsWith('.gen.ts')).sort()
  return Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })))
}

const sources = await readSources()

describe('every source file', () => {
  test('is looked at', () => {
    expect(sources.map(({ path }) => path)).toContain('tests/architecture.test.ts')
  })

  for (const rule of RULES) {
    test(`keeps the rule: ${rule.name}`, () => {
      expect(sources.flatMap((file) => findViolations(file, [rule]))).toEqual([])
    })
  }
})

describe('imports', () => {
  test('form no cycle among product files, types included', () => {
    const product = sources.filter(({ path }) => /^(src|modules|web)\//.test(path))
    expect(findCycles(product)).toEqual([])
  })

  test('are found to form a cycle, through other files and by types alone', () => {
    const files = [
      { path: 'src/a.ts', text: `import { b } from './b.ts'\n` },
      { path: 'src/b.ts', text: `import type { C } from './c.ts'\n` },
      { path: 'src/c.ts', text: `export { a } from './a.ts'\n` },
      { path: 'src/d.ts', text: `import { a } from './a.ts'\nimport { z } from 'zod'\n` },
      { path: 'src/e.ts', text: `import { e } from './e.ts'\n` },
    ]
    expect(findCycles(files)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts'], ['src/e.ts']])
    expect(findCycles(files.filter(({ path }) => /[acd].ts$/.test(path)))).toEqual([])
  })
})

/** Texts in the code that people do not read in their language, or that clients of the REST API know by heart. */
const LITERAL_ERROR_TEXTS: Record<string, readonly string[]> = {
  // Exact texts of the REST API that the browser also shows, where messages are translated.
  'src/core/errors.ts': ["User with id '…' not found", "… '…' not found"],
  'src/core/fields/attachment.ts': ['Invalid JSON for attachment field: …'],
  'src/core/fields/checked-text.ts': ['Validation failed : …'],
  'src/core/fields/choices.ts': [
    'Empty options are not allowed!',
    'Duplicates are not allowed!',
    "Illegal char(',') for MultiSelect",
    'Invalid option(s) "…" provided. Valid options are "…"',
  ],
  'src/core/fields/read.ts': ["Invalid value '…' for type '…' on column '…'"],
  'src/core/filters/check.ts': ['Filter verification failed: …'],
  'src/app.ts': ['Please check server log for more details'],
  // For the operator's log.
  'src/log.ts': ['log lines were lost'],
  // An internal invariant.
  'src/pool-tasks.ts': ['No task is called "…"'],
}

describe('error texts', () => {
  test('come from messages/en.json', () => {
    const written = findLiteralErrorTexts(sources, LITERAL_ERROR_TEXTS)
    // The formula parser and checker answer with the exact texts of the REST API.
    expect(written.filter((text) => !text.startsWith('src/core/formula/'))).toEqual([])
  })

  test('are found in errors, in functions that pass them on, and in schemas', () => {
    const text = `
      import { m } from '../../src/messages.gen.ts'
      const GONE = 'The view is gone'
      const refusal = (message: string): AppError => new AppError('CONFLICT', message)
      const explain = (name: string) => {
        if (name === '') return 'A name is missing'
        return m.views_error_name({ name })
      }
      export const limit = z.number().max(5, 'At most five please').refine(isEven, { error: 'Not an even number' })
      throw new AppError('BAD_REQUEST', GONE)
      throw badRequest(isDefault ? m.views_error_default() : \`View "\${title}" is locked\`)
      throw refusal(explain(name))
      throw refusal('It changed meanwhile')
      throw new Error('An internal invariant is broken')
      throw new AppError('BAD_REQUEST', m.views_error_name({ name: 'not a sentence' }))
    `
    const found = findLiteralErrorTexts([
      { path: 'modules/views/service.ts', text },
      { path: 'modules/views/rest/routes.ts', text },
      { path: 'modules/hooks/service.ts', text: `throw refusal('Only known in its own file')` },
    ])
    expect(found.map((each) => each.replace('modules/views/service.ts: ', '')).sort()).toEqual([
      'A name is missing',
      'At most five please',
      'It changed meanwhile',
      'Not an even number',
      'The view is gone',
      'View "…" is locked',
    ])
    const exempt = { 'modules/views/service.ts': ['The view is gone'] }
    expect(findLiteralErrorTexts([{ path: 'modules/views/service.ts', text }], exempt)).toHaveLength(5)
  })
})

describe('texts of messages/', () => {
  for (const folder of TEXT_FOLDERS) {
    const texts = (language: string) => join(ROOT, folder, 'messages', `${language}.json`)

    test(`of ${folder} are well written and used`, async () => {
      const product = sources.filter(({ path }) => !path.startsWith('tests/'))
      expect(findMessageProblems(folder, await compileFile(texts('en')), product)).toEqual([])
      expect(findUnsortedKeys(await Bun.file(texts('en')).text())).toEqual([])
    })

    test(`of ${folder} are the same in every language`, async () => {
      const english = await compileFile(texts('en'))
      for (const language of otherLanguages(join(ROOT, 'web/messages'))) {
        expect(findTranslationProblems(english, language, await compileFile(texts(language)))).toEqual([])
      }
    })
  }

  test('have typographic quotes and apostrophes, except the exact texts of the REST API', async () => {
    const straight = {
      views_error_a: `View "{view}" can't be deleted`,
      wire_error_b: "View '{view}' not found",
    }
    expect(findStraightQuotes(await compileMessages(JSON.stringify(straight), 'en'))).toEqual([
      `views_error_a: has straight quotes: View "{view}" can't be deleted`,
    ])
    // An apostrophe that a spreadsheet cell starts with, and a formula.
    const exact = [
      'exports_escape_formulas_hint',
      'imports_unescape_formulas',
      'imports_unescape_formulas_hint',
      'formula_encode_url_component_help',
    ]
    const problems = [...(await compileEnglish(ROOT)).values()].flatMap(findStraightQuotes)
    expect(problems.filter((problem) => !exact.includes(problem.split(':')[0] ?? ''))).toEqual([])
  })

  test('have ids of their own', async () => {
    expect(findSharedIds([...(await compileEnglish(ROOT)).values()])).toEqual([])
    const twice = await compileMessages(JSON.stringify({ a_b: 'x' }), 'en')
    expect(findSharedIds([twice, twice])).toEqual(['a_b and a_b have the same id: rename one of them'])
  })

  const counted = (forms: Record<string, string>) => [
    {
      declarations: ['input count', 'local n = count: number', 'local form = count: plural'],
      selectors: ['form'],
      match: Object.fromEntries(Object.entries(forms).map(([form, text]) => [`form=${form}`, text])),
    },
  ]
  const english = {
    grid_greeting: 'Hello {name}',
    grid_records: counted({ one: '{n} record', other: '{n} records' }),
  }
  const use = {
    path: 'web/a.ts',
    text: `import { m } from './messages.gen.ts'\nm.grid_greeting({ name })\nm.grid_records({ count })\n`,
  }
  const problems = async (texts: object, sources: SourceFile[] = [use]) =>
    findMessageProblems('web', await compileMessages(JSON.stringify(texts), 'en'), sources)

  test('may be used by their key only', async () => {
    expect(await problems(english)).toEqual([])
    expect(await problems({ ...english, grid_farewell: 'Bye' })).toEqual(['grid_farewell: is not used'])
    const dynamic = { path: 'web/b.ts', text: `import { m } from './messages.gen.ts'\nm[key]()\n` }
    expect(await problems(english, [use, dynamic])).toEqual([
      'web/b.ts: takes a text other than by m.key, so that a bundle would lack it',
    ])
    const unknown = { path: 'web/b.ts', text: `import { m } from './messages.gen.ts'\nm.grid_what()\n` }
    expect(await problems(english, [use, unknown])).toEqual(['web/b.ts: there is no text grid_what'])
  })

  test('of the server are found where modules use them', async () => {
    const texts = await compileMessages(
      JSON.stringify({ records_error_gone: 'Gone', records_error_unused: 'x' }),
      'en',
    )
    const module = {
      path: 'modules/records/write/door.ts',
      text: `import { m } from '../../../src/messages.gen.ts'\nm.records_error_gone()\nm.records_error_other()\n`,
    }
    const core = {
      path: 'modules/records/read/plan.ts',
      text: `import { m } from '../../../src/core/messages.gen.ts'\nm.records_error_unused()\n`,
    }
    expect(findMessageProblems('src', texts, [module, core])).toEqual([
      'modules/records/write/door.ts: there is no text records_error_other',
      'records_error_unused: is not used',
    ])
  })

  test('must have a key by area, declared inputs, and all forms of a plural', async () => {
    expect(await problems({ ...english, Hello: 'Hello' })).toContain(
      'Hello: is not written as area_what_it_says',
    )
    expect(await problems({ ...english, grid_records: counted({ other: '{n} records' }) })).toEqual([
      'grid_records: lacks the plural form one',
    ])
    expect(await problems({ ...english, grid_records: counted({ one: '{n} record' }) })).toEqual([
      'grid_records: has no variant for the rest: `other` of a plural, `*` of a select',
    ])
    expect(await problems({ ...english, grid_records: counted({ one: 'One', other: 'Many' }) })).toEqual([
      'grid_records: n is not used',
    ])
    expect(findUnsortedKeys('{\n  "b_c": "",\n  "a_b": "",\n  "a_b": ""\n}')).toEqual(['a_b', 'a_b'])
  })

  test('of a language have the same keys and inputs, and the forms of that language', async () => {
    const of = (texts: object, language: string) => compileMessages(JSON.stringify(texts), language)
    const compare = async (texts: object) =>
      findTranslationProblems(await of(english, 'en'), 'ru', await of(texts, 'ru'))
    const forms = { one: '{n} запись', few: '{n} записи', many: '{n} записей', other: '{n} записи' }
    const russian = { grid_greeting: 'Привет, {name}', grid_records: counted(forms) }
    expect(await compare(russian)).toEqual([])
    expect(await compare({ ...russian, grid_greeting: 'Привет' })).toEqual([
      'ru: grid_greeting has the inputs , not name',
    ])
    expect(await compare({ grid_greeting: russian.grid_greeting })).toEqual(['ru: grid_records is missing'])
    const { few: _, ...fewer } = forms
    expect(await compare({ ...russian, grid_records: counted(fewer), grid_more: 'Ещё' })).toEqual([
      'ru: grid_records lacks the plural form few',
      'ru: grid_more is not in en.json',
    ])
  })
})

describe('a step that has been released', () => {
  test('is never edited or removed: append a new one instead', async () => {
    const released = await Bun.file(join(ROOT, RELEASED_STEPS)).json()
    expect(Object.keys(released).length).toBeGreaterThan(15)
    expect(editedSteps(released, hashSteps())).toEqual([])
  })

  test('is missed when it is edited, and when it is gone', () => {
    expect(editedSteps({ a: '1', b: '2', c: '3' }, { a: '1', b: 'x', d: '4' })).toEqual(['b', 'c'])
  })
})

/** Sources that break a rule, by a word of its name; each breaks that rule and no other. */
const BREACHES: [word: string, path: string, text: string][] = [
  ['src/core imports', 'src/core/ids.ts', `import { randomUUID } from 'node:crypto'\n`],
  ['src/core imports', 'src/core/ids.ts', `import type { Kernel } from '../kernel.ts'\n`],
  ['src/core imports', 'src/core/fields/rating.ts', `import {\n  useState,\n} from 'react'\n`],
  ['src/core imports', 'src/core/ids.ts', `const bun = await import('bun')\n`],
  ['src/core uses', 'src/core/ids.ts', `const hash = Bun.hash('a')\n`],
  ['kernel knows no', 'src/jobs.ts', `import type { ViewsService } from '../modules/views/index.ts'\n`],
  ['kernel knows no', 'src/jobs.ts', `import '../modules/views/index.ts'\n`],
  ['kernel knows no', 'src/trpc.ts', `export { appRouter } from './router.ts'\n`],
  ['no top file', 'modules/views/service.ts', `import type { AppRouter } from '../../src/router.ts'\n`],
  ['no top file', 'modules/views/service.ts', `import { t } from '~/web/i18n.ts'\n`],
  ["another's index.ts", 'modules/views/service.ts', `import { records } from '../records/index.ts'\n`],
  ["another's index.ts", 'modules/records/list.ts', `import type { View } from '../views/service.ts'\n`],
  ["another's index.ts", 'modules/records/list.ts', `import { views } from '../views/tables.ts'\n`],
  ["another's index.ts", 'modules/extras/list.ts', `import { views } from '../views/index.ts'\n`],
  [
    "another's index.ts",
    'modules/views/rest/kinds/grid.ts',
    `import { x } from '../../../../modules/hooks/index.ts'\n`,
  ],
  [
    'a folder of a module',
    'modules/records/read/plan.ts',
    `import { createDoor } from '../write/index.ts'\n`,
  ],
  [
    'a folder of a module',
    'modules/records/write/door.ts',
    `import { readRecords } from '../table/stored.ts'\n`,
  ],
  ['edge of a module', 'modules/records/service.ts', `import { list } from './rest/index.ts'\n`],
  ['names of the REST API', 'modules/views/service.ts', `return { fk_view_id: view.id }\n`],
  ['names of the REST API', 'src/http.ts', `const info = body.pageInfo\n`],
  ['names of the REST API', 'src/core/formula/ast.ts', `const name = field.uidt\n`],
  ['names of the REST API', 'modules/views/router.ts', `return { comparison_op: 'eq' }\n`],
  ['vocabulary of the REST API', 'src/socket.ts', `import type { Page } from './wire/lists.ts'\n`],
  [
    'vocabulary of the REST API',
    'modules/views/router.ts',
    `import { json } from '../../src/wire/answer.ts'\n`,
  ],
  ['web imports', 'web/trpc.ts', `import { AppRouter } from '../src/router.ts'\n`],
  ['web imports', 'web/trpc.ts', `import type { AppRouter, Caller } from '../src/router.ts'\n`],
  ['web imports', 'web/grid/grid.tsx', `import type { Kernel } from '../../src/kernel.ts'\n`],
  ['web imports', 'web/grid/grid.tsx', `import { list } from '../../modules/records/index.ts'\n`],
  ['layer of web', 'web/navigation/paths.ts', `import { Button } from '../ui/button.tsx'\n`],
  ['layer of web', 'web/trpc.ts', `import { router } from './routes/router.tsx'\n`],
  [
    'layer of web',
    'web/cells/computed.tsx',
    `import type { Explained } from '../features/formula/explain.ts'\n`,
  ],
  ['layer of web', 'web/grid/grid.tsx', `const menu = import('../features/records/cell-menu.ts')\n`],
  ['layer of web', 'web/features/shell/shell.tsx', `import { router } from '../../routes/router.tsx'\n`],
  ['layer of web', 'web/new-folder/a.ts', `import { Button } from '../ui/button.tsx'\n`],
  [
    'a feature of web',
    'web/features/schema/a.ts',
    `import { undo } from '../records/undo/undo-commands.tsx'\n`,
  ],
  ['a feature of web', 'web/features/shares/a.ts', `import { Page } from './public/page.tsx'\n`],
  ['a feature of web', 'web/features/new-feature/a.ts', `import { Logo } from '../layout/logo.tsx'\n`],
  ['driver', 'modules/records/list.ts', `import { Database } from 'bun:sqlite'\n`],
  ['driver', 'src/jobs.ts', `import type { Sql } from 'postgres'\n`],
  ['driver', 'src/jobs.ts', `import mysql from 'mysql2/promise'\n`],
  ['which database', 'modules/records/list.ts', `if (dialect.client === 'pg') return 1\n`],
  ['which database', 'src/db/sources.ts', `if (client !== SQLITE) return 1\n`],
  ['which database', 'web/grid/grid.tsx', `switch (source.client) {\n`],
  ['change log', 'modules/records/list.ts', 'const last = sql`select max(id) from sheaf_changes`\n'],
  ['change log', 'src/db/base-file.ts', "file.run('delete from sheaf_change_records')\n"],
  ['asked for a trait', 'modules/records/list.ts', `if (field.type === 'ForeignKey') return 1\n`],
  ['asked for a trait', 'web/grid/fill.ts', `switch (type.name) {\n  case 'Rating':\n`],
  ['asked for a trait', 'web/grid/paste.ts', `const LIST = new Set([\n  'Number',\n  'Decimal',\n])\n`],
  ['asked for a trait', 'web/grid/paste.ts', `const KINDS = {\n  Number: 'number',\n  Date: 'date',\n}\n`],
  ['capability', 'modules/records/read/read.ts', `if (view.kind === 'form') throw forbidden()\n`],
  ['capability', 'web/features/shares/share-address.ts', `if (viewKind !== 'kanban') return\n`],
  ['capability', 'web/features/views/manage/new-view.ts', `switch (kind) {\n  case 'calendar':\n`],
  ['object literal', 'web/ui/dialog.tsx', `<Cell {...{ value, field }} />\n`],
  ['array literal', 'src/http.ts', `const RANGES = [\n  ...[\n    '10.0.0.0/8',\n  ],\n]\n`],
  ['object literal', 'modules/records/list.ts', `const page = { ...{ limit, offset }, total }\n`],
  ['raw HTML', 'web/ui/dialog.tsx', `<div dangerouslySetInnerHTML={{ __html: text }} />\n`],
  ['another server', 'web/index.html', `<script src="https://example.org/x.js"></script>\n`],
  ['another server', 'web/tokens.css', `@import 'https://fonts.example.org/a.css';\n`],
  ['another server', 'web/main.tsx', `const map = 'https://unpkg.com/world-atlas'\n`],
  ['timeout of a test', 'tests/a.test.ts', `test('ends', run, 60_000)\n`],
  ['timeout of a test', 'tests/a.test.ts', `test.skipIf(isRoot)('ends', async () => {\n}, 20_000)\n`],
  ['timeout of a test', 'tests/a.test.ts', `test.each([1])('ends', run, { timeout: 90_000 })\n`],
  ['timeout of a test', 'tests/web/a.test.tsx', `beforeAll(async () => {\n}, 120_000)\n`],
  ['kebab-case', 'web/ui/emptyState.tsx', ''],
  ['kebab-case', 'src/core/date_add.ts', ''],
]

/** Sources that look like a breach and are none. */
const ALLOWED: [path: string, text: string][] = [
  ['src/core/ids.ts', `import { z } from 'zod'\nimport type { Role } from './roles.ts'\n`],
  ['src/core/ids.ts', `/**\n * import { x } from 'react'\n */\n// import('react'), Bun.file\n`],
  ['src/core/ids.ts', `const key = message.process.step\n`],
  ['src/app.ts', `import { createViewsService } from '../modules/views/index.ts'\n`],
  ['modules/records/list.ts', `import type { ViewsService } from '../views/index.ts'\n`],
  ['modules/records/list.ts', `import { present } from './present.ts'\n`],
  ['modules/records/write/door.ts', `import { readRecords } from '../table/index.ts'\n`],
  ['modules/records/service.ts', `import { createDoor } from './write/index.ts'\n`],
  ['modules/views/index.ts', `export { viewsRest } from './rest/index.ts'\n`],
  ['modules/views/rest/kinds/grid.ts', `import { ROW_HEIGHTS } from '../vocabulary.ts'\n`],
  ['modules/views/rest/present.ts', `return { fk_view_id: view.id }\n`],
  ['modules/views/rest/present.ts', `import { json } from '../../../src/wire/answer.ts'\n`],
  ['src/wire/lists.ts', `return { pageInfo }\n`],
  ['src/app.ts', `import { restBase } from './wire/rest-base.ts'\n`],
  ['modules/auth/tables.ts', `import { bases } from '../bases/tables.ts'\n`],
  ['web/trpc.ts', `import type { AppRouter } from '../src/router.ts'\n`],
  ['web/grid/layout.ts', `import { roles } from '~/src/core/roles.ts'\n`],
  ['web/trpc.ts', `if (client === null) return\n`],
  ['web/trpc.ts', `import { session } from './session/index.ts'\n`],
  ['web/grid/grid.tsx', `import { CELLS } from '../cells/index.ts'\n`],
  ['web/main.tsx', `import { router } from './routes/router.tsx'\n`],
  ['src/db/change-log/tables.ts', "const table = 'sheaf_changes'\n"],
  ['tests/records/history.test.ts', "const logged = 'select count(*) from sheaf_changes'\n"],
  ['modules/records/list.ts', "// A line of sheaf_changes.\nimport { x } from 'sheaf_changes_old'\n"],
  ['tests/a.test.ts', `test('ends', run, 300_000)\ntest('ends', () => wait(5_000))\n`],
  ['tests/a.test.ts', `test.each([20, 30])('%d ends', run)\nbeforeAll(run)\nretry(run, 20)\n`],
  ['web/ui/icon.tsx', `<svg xmlns="http://www.w3.org/2000/svg"><a href={url} /></svg>\n`],
  ['src/core/fields/read.ts', `if (type === 'Rating') return 1\n`],
  ['web/cells/index.ts', `const CELLS = {\n  Number: numberCell,\n  Date: dateCell,\n}\n`],
  ['modules/schema/create-table.ts', `const field = { type: 'SingleLineText', title: 'Title' }\n`],
  ['modules/schema/links.ts', `// if (type === 'Links') asks for a name\n`],
  ['src/core/views/uses.ts', `if (view.kind === 'kanban') return 1\n`],
  ['modules/views/rest/kinds/grid.ts', `if (kind === 'grid') return 1\n`],
  ['web/cells/attachment.tsx', `const size = variant === 'grid' ? 1 : 2\n`],
  ['src/dialects/pg.ts', `import postgres from 'postgres'\nif (client === 'pg') connect()\n`],
]

const excerpt = (text: string) => JSON.stringify(text.slice(0, 80))

describe('the checker', () => {
  for (const [word, path, text] of BREACHES) {
    test(`finds that ${path} breaks "${word}": ${excerpt(text)}`, () => {
      const breaches = findViolations({ path, text })
      expect(breaches).toHaveLength(1)
      expect(breaches[0]).toStartWith(`${path}: `)
      expect(breaches[0]).toContain(word)
    })
  }

  for (const [path, text] of ALLOWED) {
    test(`lets ${path} have: ${excerpt(text)}`, () => {
      expect(findViolations({ path, text })).toEqual([])
    })
  }

  test('has an example of a breach of every rule', () => {
    const unproven = RULES.filter(({ name }) => !BREACHES.some(([word]) => name.includes(word)))
    expect(unproven.map(({ name }) => name)).toEqual([])
  })
})
