import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { StorageKind } from '../core/fields/field-type.ts'
import { escapeLike } from '../core/filters/primitives.ts'
import { SEARCH_PREFIX } from './automatic-index.ts'
import type {
  IndexedTable,
  SearchIndexAbilities,
  SearchIndexes,
  SearchIndexVersion,
  SearchMatch,
  Statement,
  TextMatch,
} from './dialect.ts'
import { asRegularExpression } from './postgres-text.ts'
import { createRender } from './standard-sql.ts'

/** Records with longer texts are candidates of every search without trigrams, as listing their characters takes long. */
const MAX_LISTED_BYTES = 50_000

/**
 * Characters that nearly all texts have, and line breaks, are not listed: the index would be half as large again, and a
 * search for them ends after the first records of the table.
 */
const FREQUENT = ' etaoinsrhldcumfpgwybv0123456789'

/**
 * Functions of a base's schema that print values as searches compare them. An index accepts only immutable functions;
 * the casts of dates and instants to text depend on settings, which are the same for all connections of Sheaf. None of
 * them may raise an error, which would reject the write of a record.
 */
export const POSTGRES_SEARCH_FUNCTIONS: readonly string[] = [
  `create or replace function sheaf_search_text(value date) returns text
    language plpgsql immutable strict parallel safe as $$ begin
      return case when isfinite(value) and value >= date '0001-01-01' then to_char(value, 'YYYY-MM-DD')
        else value::text end;
    end $$`,
  `create or replace function sheaf_search_text(value timestamptz) returns text
    language plpgsql immutable strict parallel safe as $$ begin
      return case when isfinite(value) and value >= timestamptz '0001-01-02 00:00:00+00'
        then rtrim(rtrim(to_char(value at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), '0'), '.')
        else value::text end;
    end $$`,
  // Text that is not the JSON of files stays as it is.
  `create or replace function sheaf_search_files(value text) returns text
    language plpgsql immutable strict as $$ begin
      return (select string_agg(file->>'title', chr(10)) from json_array_elements(
        case when value like '[{"%}]' then value::json end) as file);
    exception when others then return value;
    end $$`,
  // The characters but the frequent ones; of a long text the mark alone. The cost keeps the planner from calling it for
  // every record.
  `create or replace function sheaf_search_letters(value text) returns tsvector
    language plpgsql immutable strict parallel safe cost 10000 as $$ begin
      return array_to_tsvector(case when octet_length(value) > ${MAX_LISTED_BYTES} then array[chr(1)]
        else string_to_array(translate(value, '${FREQUENT}' || chr(10), ''), null) end);
    end $$`,
]

/** The text in which `search` looks, in immutable expressions. */
export function postgresSearchedText(expression: SQL, storage: StorageKind | 'files'): SQL | null {
  switch (storage) {
    case 'boolean':
      return null
    case 'files':
      return sql`sheaf_search_files(${expression})`
    case 'date':
    case 'datetime':
      return sql`sheaf_search_text(${expression})`
    // As JavaScript prints numbers: from 1e15 on PostgreSQL would write an exponent.
    case 'real':
      return sql`(case when (${expression})::text ~ '^-?[0-9.]+e[+-]?[0-9]+$'
        then (${expression})::text::numeric::text else (${expression})::text end)`
    default:
      return sql`(${expression})::text`
  }
}

/** The runs of letters that are asked of the index for a text with other letters than A to Z. */
const MAX_RUNS = 4
/** The characters that are asked of the index for a text without trigrams. */
const MAX_CHARACTERS = 8

const statement = (text: string, ...params: unknown[]): Statement => ({ sql: text, params })

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

const render = createRender(quote, (index) => `$${index + 1}`)

/** Hashed, because names have at most 63 bytes. */
const indexName = ({ name }: IndexedTable, generation: number): string =>
  `${SEARCH_PREFIX}${generation}_${createHash('sha256').update(name).digest('hex').slice(0, 16)}`

/**
 * The indexed text of a row: its values on one line each, with small letters from A to Z, so that patterns need no case
 * rules of the database.
 */
export const postgresIndexedText = ({ columns }: Pick<SearchIndexVersion, 'columns'>): string =>
  `lower((${columns.map((column) => `coalesce(${column}, '')`).join(` || chr(10) || `)}) collate "C")`

/** The columns of the index: the trigrams of the text, by pg_trgm in its schema, and the rarer characters of the text. */
export const postgresIndexedColumns = (
  version: Pick<SearchIndexVersion, 'columns'>,
  trigramSchema: string,
): string =>
  `(${postgresIndexedText(version)}) ${quote(trigramSchema)}.gin_trgm_ops, (${lettersOf(version)}) tsvector_ops`

const lettersOf = (version: Pick<SearchIndexVersion, 'columns'>): string =>
  `sheaf_search_letters(${postgresIndexedText(version)})`

/** Trigrams of pg_trgm, and characters, in a GIN index over expressions, which PostgreSQL keeps current. */
export const postgresSearchIndexes: SearchIndexes = {
  match: matchOf,
  readsColumns: true,
  indexName,
  isCandidate: (key, table, version, match) => sql`${key} in (${keysOf(table, version, match)})`,
  // The planner expects ten values of an array and looks them up; of a pattern it cannot tell how many texts match.
  isOneOfFew: (key, table, version, match) => sql`${key} = any(array(${keysOf(table, version, match)}))`,
  // A scan of a GIN index collects all candidates before it returns the first.
  estimates: {
    sample({ name }, version, match, share) {
      const { condition, params } = conditionOf(version, match)
      // Not bound: Citus would send the number as text.
      const percent = Math.min(100, share * 100).toFixed(6)
      return statement(
        `select count(*)::integer as records, (count(*) filter (where ${condition}))::integer as n
          from ${quote(name)} tablesample system (${percent})`,
        ...params,
      )
    },
    among({ name }, version, match, { order, first, most }) {
      const { condition, params } = conditionOf(version, match)
      const at = params.length
      return statement(
        `select count(*)::integer as n from (
          select 1 from (select * from ${quote(name)} order by ${order} limit $${at + 1}) as ${quote(name)}
          where ${condition} limit $${at + 2}) as found`,
        ...params,
        first,
        most,
      )
    },
  },
  size: statement(
    `select coalesce(sum(pg_relation_size(c.oid)), 0)::float8 as bytes from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'i'
        and starts_with(c.relname::text, '${SEARCH_PREFIX}')`,
  ),
  list: ({ name }) =>
    statement(
      // Without a UTF-8 locale, pg_trgm skips all letters but A to Z.
      `select split_part(c.relname::text, '_', 3)::integer as generation, coalesce(d.description, '[]') as columns,
          (i.indisvalid and d.description is not null)::integer as "isComplete",
          (select (datctype not in ('C', 'POSIX'))::integer from pg_database where datname = current_database())
            as "knowsAllLetters",
          (i.indnkeyatts > 1)::integer as "knowsShortTexts"
        from pg_index i join pg_class c on c.oid = i.indexrelid
          left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
        where i.indrelid = to_regclass(quote_ident($1)) and starts_with(c.relname::text, '${SEARCH_PREFIX}')
        order by generation`,
      name,
    ),
}

interface Pattern {
  operator: 'like' | '~'
  pattern: string
}

/** A condition of candidates that compares texts, with numbered parameters. */
function conditionOf(
  version: SearchIndexVersion,
  match: SearchMatch,
): { condition: string; params: unknown[] } {
  const text = sql.raw(postgresIndexedText(version))
  const fit = ({ by, texts }: TextMatch) =>
    by === 'trigrams'
      ? matchesPatterns(text, texts)
      : sql`((${matchesPatterns(text, texts)}) or octet_length(${text}) > ${sql.raw(String(MAX_LISTED_BYTES))})`
  const { sql: condition, params } = render(joined(match, fit))
  return { condition, params }
}

/** The condition of candidates that the index answers. */
function fits(version: SearchIndexVersion, match: SearchMatch): SQL {
  const text = sql.raw(postgresIndexedText(version))
  const letters = sql.raw(lettersOf(version))
  return joined(match, ({ by, texts }) =>
    by === 'trigrams' ? matchesPatterns(text, texts) : sql`${letters} @@ ${queryOf(texts)}::tsquery`,
  )
}

function joined(match: SearchMatch, fit: (part: TextMatch) => SQL): SQL {
  if (!('join' in match)) return fit(match)
  const parts = match.of.map((each) => sql`(${joined(each, fit)})`)
  return sql.join(parts, match.join === 'and' ? sql` and ` : sql` or `)
}

const keysOf = ({ name, key }: IndexedTable, version: SearchIndexVersion, match: SearchMatch): SQL =>
  sql`select ${sql.raw(quote(key))} from ${sql.raw(quote(name))} where ${fits(version, match)}`

const matchesPatterns = (text: SQL, texts: readonly string[]): SQL =>
  sql.join(
    patternsOf(texts).map(({ operator, pattern }) => sql`${text} ${sql.raw(operator)} ${pattern}`),
    sql` and `,
  )

/** A query for all of the characters. https://www.postgresql.org/docs/current/datatype-textsearch.html */
function queryOf(characters: readonly string[]): string {
  const asLexeme = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
  const oneOf = (forms: readonly string[]) => `(${forms.map(asLexeme).join(' | ')})`
  return characters.map((character) => oneOf([...formsOf(character), MARK])).join(' & ')
}

/** What the index has in place of the characters of a long text. */
const MARK = '\u0001'

/** The forms of a character in the index that a search for it finds. */
function formsOf(character: string): string[] {
  const forms = [character, character.toLowerCase(), character.toUpperCase()]
  return [...new Set(forms.filter((form) => [...form].length === 1).map(lowered))]
}

const isPlain = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

const lowered = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

const patternsOf = (texts: readonly string[]): Pattern[] =>
  texts.map((text) => {
    const pattern = `%${escapeLike(text)}%`
    return isPlain(text)
      ? { operator: 'like', pattern: lowered(pattern) }
      : // Lowered with all cases of its letters: the upper case of "ſ" is "S", which the index has as "s".
        { operator: '~', pattern: lowered(asRegularExpression(pattern)) }
  })

/**
 * Texts that every match contains. A text of A to Z is asked for as a whole. Others become regular expressions, of which
 * pg_trgm analyses only short ones. Sigma is left out: its small form depends on the letter that follows.
 */
function matchOf(text: string, abilities: SearchIndexAbilities): TextMatch | null {
  const trigrams = withTrigrams(text, abilities)
  if (trigrams.length > 0) return { by: 'trigrams', texts: trigrams }
  const isListed = (form: string) => form !== MARK && form !== '\n' && !FREQUENT.includes(form)
  const characters = [...new Set(text)].filter((character) => formsOf(character).every(isListed))
  if (characters.length === 0 || !abilities.knowsShortTexts) return null
  return { by: 'short', texts: characters.slice(0, MAX_CHARACTERS) }
}

function withTrigrams(text: string, { knowsAllLetters }: SearchIndexAbilities): string[] {
  if (isPlain(text) && !text.includes('\n')) return /[A-Za-z0-9]{3}/.test(text) ? [text] : []
  const runs = text.match(knowsAllLetters ? /[\p{L}\p{N}]{3,}/gu : /[A-Za-z0-9]{3,}/g) ?? []
  const short = runs
    .flatMap((run) => run.split(/[Σσς]/))
    .flatMap((run) => (isPlain(run) ? run : [...run].slice(0, 8).join('')))
    .filter((run) => [...run].length >= 3)
  return short.slice(0, MAX_RUNS)
}
