import { type SQL, sql } from 'drizzle-orm'

/**
 * What is asked of a column of files: a JSON list of objects with a `title` and a `size`. Text that is no
 * such list, which a database of somebody else's may hold, has neither names nor bytes.
 */

/** The names in SQLite, one on each line. */
export const sqliteFileNames = (column: SQL): SQL =>
  sql`(select group_concat(json_extract(file.value, '$.title'), char(10)) from ${sqliteFiles(column)})`

/** All bytes in SQLite, over the rows of a select. */
export const sqliteFileBytes = (column: SQL): SQL =>
  sql`sum((select sum(json_extract(file.value, '$.size')) from ${sqliteFiles(column)}))`

// What is in the list and no object would be read as JSON itself, and is none.
const sqliteFiles = (column: SQL): SQL =>
  sql`json_each(${sqliteList(column)}) as file where file.type = 'object'`

// `json_each` fails on text that is no JSON, and of no text gives no rows.
const sqliteList = (column: SQL): SQL =>
  sql`case when ${column} like '[%' and json_valid(${column}) then ${column} end`

/** The names in PostgreSQL, one on each line. */
export const postgresFileNames = (column: SQL): SQL =>
  sql`(select string_agg(file->>'title', chr(10)) from json_array_elements(${postgresList(column)}) as file)`

/** All bytes in PostgreSQL, over the rows of a select. */
export const postgresFileBytes = (column: SQL): SQL =>
  sql`sum((select sum((file->>'size')::double precision) from json_array_elements(${postgresList(column)}) as file))`

// Before version 16 PostgreSQL cannot be asked whether a text is JSON: the shape that we write must do.
const postgresList = (column: SQL): SQL =>
  sql`case when (${column})::text like '[{"%}]' then (${column})::text::json end`

/** The names in MySQL and MariaDB, one on each line. */
export const mysqlFileNames = (column: SQL): SQL =>
  sql`(select group_concat(file.title separator '\n') from json_table(${mysqlList(column)}, '$[*]' columns (title text path '$.title')) as file)`

/** All bytes in MySQL and MariaDB, over the rows of a select. */
export const mysqlFileBytes = (column: SQL): SQL =>
  sql`cast(sum((select sum(file.size) from json_table(${mysqlList(column)}, '$[*]' columns (size bigint path '$.size')) as file)) as double)`

const mysqlList = (column: SQL): SQL => sql`case when json_valid(${column}) then ${column} end`
