import { sql } from 'drizzle-orm'
import { SEARCH_PREFIX } from './automatic-index.ts'
import type { Dialect } from './dialect.ts'
import { nodesOf, type PlanNode, planOf, planRoots, postgres } from './postgres.ts'
import { postgresSearchIndexes } from './postgres-search.ts'

/**
 * PostgreSQL whose schemas Citus spreads over several servers. The coordinator, which runs all statements, has only empty
 * tables and indexes; those of the workers have the number of their shard after the name.
 */
export const citus: Dialect = {
  ...postgres,
  listIndexes: (table) => ({
    sql: `with shard as (
        select result::jsonb as sizes, shardid from run_command_on_shards(quote_ident($1), $$
          select coalesce(jsonb_object_agg(c.relname, pg_relation_size(c.oid)), '{}')
          from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = '%s'::regclass $$))
      select c.relname::text as name,
        (select sum((sizes ->> (c.relname || '_' || shardid))::float8) from shard) as bytes
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = quote_ident($1)::regclass order by c.relname`,
    params: [table],
  }),
  searchIndexes: {
    ...postgresSearchIndexes,
    size: {
      sql: `select coalesce(sum(shard.result::float8), 0) as bytes from (
          select distinct i.indrelid::regclass as name from pg_index i join pg_class c on c.oid = i.indexrelid
          where c.relnamespace = current_schema()::regnamespace and starts_with(c.relname::text, '${SEARCH_PREFIX}')
        ) as indexed cross join lateral run_command_on_shards(indexed.name, $$
          select coalesce(sum(pg_relation_size(c.oid)), 0) from pg_index i join pg_class c on c.oid = i.indexrelid
          where i.indrelid = '%s'::regclass and starts_with(c.relname::text, '${SEARCH_PREFIX}') $$) as shard`,
      params: [],
    },
  },
  // The condition of an update may call no function whose result depends on settings, but that of a select may.
  whereSelected: ({ table, key, where }) => sql`where ${key} in (select ${key} from ${table} ${where})`,
  // Nor may the values of an update call one, such as the conversion of a text to a time: `computedOnce` keeps them in a select.
  readPlan: (rows, table) => planOf(planRoots(rows).flatMap(nodesOnWorkers), table),
}

/** The node that sends a query to the workers, with their plans. */
interface DistributedNode extends PlanNode {
  'Distributed Query'?: { Job: { Tasks: { 'Remote Plan': { Plan: PlanNode }[][] }[] } }
}

/** The nodes of a plan and of its parts on the workers, with the names that tables and indexes have on the coordinator. */
function nodesOnWorkers(root: PlanNode): PlanNode[] {
  return nodesOf(root).flatMap((node: DistributedNode) => [
    node,
    ...(node['Distributed Query']?.Job.Tasks ?? []).flatMap((task) =>
      task['Remote Plan'].flat().flatMap(({ Plan }) => nodesOf(Plan).map(withoutShard)),
    ),
  ])
}

function withoutShard({ 'Relation Name': relation, 'Index Name': index, ...node }: PlanNode): PlanNode {
  const plain = (name: string) => name.replace(/_\d+$/, '')
  return {
    ...node,
    ...(relation !== undefined && { 'Relation Name': plain(relation) }),
    ...(index !== undefined && { 'Index Name': plain(index) }),
  }
}
