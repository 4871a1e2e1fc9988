import { type SQL, sql } from 'drizzle-orm'
import type {
  IndexedTable,
  SearchIndexAbilities,
  SearchIndexBatches,
  SearchIndexes,
  SearchMatch,
  Statement,
  TextMatch,
} from './dialect.ts'
import { createRender } from './standard-sql.ts'

/** The list of all indexes of a base's file. Created with the first index. */
const LIST = 'sheaf_search_indexes'

/** True for the tables of search indexes, which are derived and not moved to another database. */
export const isOfSearchIndex = (table: string): boolean =>
  table.startsWith('sheaf_search_') || table.startsWith('sheaf_changed_')

const EVENTS = ['insert', 'update', 'delete'] as const

/** More trigrams select little more. */
const MAX_TRIGRAMS = 24

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

const statement = (text: string, ...params: unknown[]): Statement => ({ sql: text, params })

const indexName = ({ name }: IndexedTable, generation: number) => `sheaf_search_${generation}_${name}`
/** The table of the trigrams of an index with the keys of their rows. Indexes of earlier builds have none. */
const termsName = ({ name }: IndexedTable, generation: number) => `sheaf_search_terms_${generation}_${name}`
const changedName = ({ name }: IndexedTable, generation: number) => `sheaf_changed_${generation}_${name}`

/** Segments of an index, of which FTS5 allows 2,000. */
const MAX_SEGMENTS = 1_999
/** Segments of one size that `merge` joins. */
const MERGED_SEGMENTS = 8
/** Pages that one step of a merge writes: some milliseconds. */
const MERGED_PAGES = 50

/** A command of FTS5. https://sqlite.org/fts5.html#special_insert_commands */
function option(table: IndexedTable, generation: number, name: string, value: number): Statement {
  const index = quote(indexName(table, generation))
  return statement(`insert into ${index} (${index}, rank) values (?, ?)`, name, value)
}

/**
 * The indexed text of a row: its values on one line each. With two empty lines at the end each character begins a trigram,
 * so that trigrams are looked up by their beginnings for shorter texts.
 */
const textOf = (columns: readonly string[]): string => `${linesOf(columns)} || char(10, 10)`

/** Nested by halves, as SQLite allows 1,000 levels. */
function linesOf(columns: readonly string[]): string {
  if (columns.length === 1) return `coalesce(${columns[0]}, '')`
  const middle = Math.ceil(columns.length / 2)
  return `(${linesOf(columns.slice(0, middle))} || char(10) || ${linesOf(columns.slice(middle))})`
}

/** Selects as `n` whether a base's file has the list. */
export const hasSearchIndexes = statement(`select count(*) as n from sqlite_schema where name = '${LIST}'`)

export const sqliteSearchBatches: SearchIndexBatches = {
  prepare: statement(`create table if not exists ${LIST} (
    table_name text not null,
    generation integer not null,
    columns text not null,
    is_complete integer not null,
    primary key (table_name, generation)
  ) without rowid`),
  create(table, { generation, columns }) {
    const changed = quote(changedName(table, generation))
    const triggers = EVENTS.map((event) =>
      statement(`create trigger ${quote(`${changedName(table, generation)}_${event}`)}
        after ${event} on ${quote(table.name)}
        begin insert or ignore into ${changed} values (${event === 'delete' ? 'old' : 'new'}.${quote(table.key)}); end`),
    )
    return [
      // `detail=none` needs a fifth of the space of positions, which only phrases use.
      statement(`create virtual table ${quote(indexName(table, generation))}
        using fts5(text, content='', contentless_delete=1, tokenize='trigram', detail=none)`),
      // By default an insert may merge the whole index in its transaction, and writers wait. `merge` does it in steps.
      option(table, generation, 'automerge', 0),
      option(table, generation, 'crisismerge', MAX_SEGMENTS),
      option(table, generation, 'usermerge', MERGED_SEGMENTS),
      statement(`create virtual table ${quote(termsName(table, generation))}
        using fts5vocab(${quote(indexName(table, generation))}, instance)`),
      statement(`create table ${changed} (id integer primary key)`),
      ...triggers,
      statement(`insert into ${LIST} values (?, ?, ?, 0)`, table.name, generation, JSON.stringify(columns)),
    ]
  },
  drop: (table, generation) => [
    // The triggers of a table that is gone are gone with it.
    ...EVENTS.map((event) =>
      statement(`drop trigger if exists ${quote(`${changedName(table, generation)}_${event}`)}`),
    ),
    statement(`drop table if exists ${quote(changedName(table, generation))}`),
    statement(`drop table if exists ${quote(termsName(table, generation))}`),
    statement(`drop table if exists ${quote(indexName(table, generation))}`),
    statement(`delete from ${LIST} where table_name = ? and generation = ?`, table.name, generation),
  ],
  fill: (table, { generation, columns }, after, last) =>
    statement(
      `insert into ${quote(indexName(table, generation))} (rowid, text)
        select ${quote(table.key)}, ${textOf(columns)} from ${quote(table.name)}
        where ${quote(table.key)} > ? and ${quote(table.key)} <= ?`,
      after,
      last,
    ),
  merge: (table, generation) => [
    statement('select total_changes() as n'),
    option(table, generation, 'merge', MERGED_PAGES),
    statement('select total_changes() as n'),
  ],
  complete: (table, generation) =>
    statement(
      `update ${LIST} set is_complete = 1 where table_name = ? and generation = ?`,
      table.name,
      generation,
    ),
  countChanged: (table, generation, most) =>
    statement(
      `select count(*) as waiting from (select 1 from ${quote(changedName(table, generation))} limit ?)`,
      most,
    ),
  refresh(table, { generation, columns }, most) {
    const index = quote(indexName(table, generation))
    const changed = quote(changedName(table, generation))
    const first = `select id from ${changed} order by id limit ${most}`
    return [
      statement(`delete from ${index} where rowid in (${first})`),
      statement(`insert into ${index} (rowid, text)
        select ${quote(table.key)}, ${textOf(columns)} from ${quote(table.name)}
        where ${quote(table.key)} in (${first})`),
      statement(`delete from ${changed} where id in (${first})`),
    ]
  },
  listAll: statement(
    `select table_name as name, generation, table_name not in (
        select name from sqlite_schema where type = 'table'
      ) as isLost from ${LIST}`,
  ),
}

/** Trigrams in FTS5, without the texts themselves. Its vocabulary finds shorter texts: https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module */
export const sqliteSearchIndexes: SearchIndexes = {
  match: matchOf,
  readsColumns: false,
  indexName,
  isCandidate(key, table, { generation }, match) {
    const changed = sql.raw(quote(changedName(table, generation)))
    return sql`${key} in (${keysOf(table, generation, match)} union all select id from ${changed})`
  },
  countCandidates: (table, { generation }, match, most) =>
    render(sql`select count(*) as n from (${keysOf(table, generation, match)} limit ${most})`),
  list: ({ name }) =>
    statement(
      // Without its triggers an index misses changes.
      `select generation, columns, is_complete = 1 and ${EVENTS.length} = (
          select count(*) from sqlite_schema where type = 'trigger' and tbl_name = table_name
            and name like 'sheaf_changed_' || generation || '_%' escape '\\'
        ) as isComplete, 1 as knowsAllLetters, exists (
          select 1 from sqlite_schema where name = 'sheaf_search_terms_' || generation || '_' || table_name
        ) as knowsShortTexts
        from ${LIST} where table_name = ? order by generation`,
      name,
    ),
  size: statement(
    `select coalesce(sum(pgsize), 0) as bytes from dbstat where name in (
      select name from sqlite_schema where type = 'table' and name like 'sheaf#_search#_%' escape '#'
        and name <> '${LIST}')`,
  ),
  hasList: hasSearchIndexes,
  batches: sqliteSearchBatches,
}

const render = createRender(quote, () => '?')

/** Selects the keys of all records that may match; some several times. */
function keysOf(table: IndexedTable, generation: number, match: SearchMatch): SQL {
  const { query, beginnings } = askedOf(match)
  const index = sql.raw(quote(indexName(table, generation)))
  const terms = sql.raw(quote(termsName(table, generation)))
  const byQuery = query === null ? [] : [sql`select rowid from ${index} where ${index} match ${query}`]
  // No character has the byte FF.
  const byBeginning = beginnings.map(
    (text) => sql`select doc from ${terms} where term >= ${text} and term <= ${text} || cast(x'ff' as text)`,
  )
  return sql.join([...byQuery, ...byBeginning], sql` union all `)
}

/** What is asked of an index; a row that either of both finds may match. */
interface Asked {
  /** A query of FTS5: https://sqlite.org/fts5.html#full_text_query_syntax */
  query: string | null
  /** The beginnings of trigrams. */
  beginnings: readonly string[]
}

function askedOf(match: SearchMatch): Asked {
  if (!('join' in match)) {
    return match.by === 'short'
      ? { query: null, beginnings: match.texts }
      : { query: match.texts.map(asString).join(' '), beginnings: [] }
  }
  const parts = match.of.map(askedOf)
  const queries = (of: readonly Asked[]) => of.flatMap(({ query }) => query ?? [])
  const joined = (of: readonly Asked[], word: string) =>
    of.length === 0
      ? null
      : queries(of)
          .map((query) => `(${query})`)
          .join(` ${word} `) || null
  if (match.join === 'or') {
    return { query: joined(parts, 'OR'), beginnings: parts.flatMap(({ beginnings }) => beginnings) }
  }
  // Trigrams select more than their beginnings, and of these the longer ones.
  const whole = parts.filter(({ beginnings }) => beginnings.length === 0)
  if (whole.length > 0) return { query: joined(whole, 'AND'), beginnings: [] }
  const shortest = ({ beginnings }: Asked) => Math.min(...beginnings.map(({ length }) => length))
  return parts.toSorted((a, b) => shortest(b) - shortest(a))[0]!
}

const asString = (text: string): string => `"${text.replaceAll('"', '""')}"`

/**
 * The trigrams of a text, all of which a match contains. FTS5 folds case by a table of its own, older than JavaScript's:
 * trigrams with a letter whose cases it may keep apart are left out. If none is left, the beginnings of trigrams, of which a
 * match contains one.
 */
function matchOf(
  text: string,
  { knowsShortTexts }: Pick<SearchIndexAbilities, 'knowsShortTexts'>,
): TextMatch | null {
  const trigrams = new Set<string>()
  let run: string[] = []
  let longest: string[] = []
  for (const character of text) {
    run = foldsAlike(character) ? [...run.slice(-2), character] : []
    if (run.length > longest.length) longest = run
    if (run.length === 3) trigrams.add(run.join(''))
    if (trigrams.size === MAX_TRIGRAMS) break
  }
  if (trigrams.size > 0) return { by: 'trigrams', texts: [...trigrams] }
  if (longest.length === 0 || !knowsShortTexts) return null
  const beginnings = longest
    .map(foldedForms)
    .reduce((all, forms) => all.flatMap((start) => forms.map((form) => start + form)))
  return { by: 'short', texts: beginnings }
}

/** The forms of which one is what FTS5 stores for a character, as a test finds for each. */
function foldedForms(character: string): string[] {
  const lower = character.toLowerCase()
  // Of "ſ", "ς" and "µ", the form is that of their upper case.
  const forms = new Set([character, lower, character.toUpperCase().toLowerCase()])
  const isSingle = (form: string) => [...form].length === 1
  return [...forms].filter((form) => isSingle(form) && (form.toLowerCase() === form || !isSingle(lower)))
}

/** Scripts in which FTS5 unites the cases of every letter; a test compares each letter with `sqliteLike`. */
const FOLDED_RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x17f],
  [0x386, 0x3f2],
  [0x400, 0x527],
]

/** Dotless i, whose upper case is that of i in JavaScript but not in FTS5. */
const DOTLESS_I = 0x131

function foldsAlike(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  // SQLite's text functions end at a null character. Lone surrogates and U+FFFE and U+FFFF are stored as others.
  if (code === 0 || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) return false
  if (code === DOTLESS_I) return false
  if (character.toLowerCase() === character && character.toUpperCase() === character) return true
  return FOLDED_RANGES.some(([from, to]) => code >= from && code <= to)
}
