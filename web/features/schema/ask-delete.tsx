import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, type Outputs } from '../../trpc.ts'
import { confirm } from '../../ui/confirm.tsx'

type Dependent = Outputs['schema']['dependents'][number]

/** Dependents that are listed; of the others, only the number. */
const MAX_LINES = 12

/**
 * Confirms the deletion of a field or table, listing its dependents.
 * @throws the server's error
 */
export async function askDelete(
  target: { fieldId: string } | { tableId: string },
  question: { title: string; text: string; confirmLabel: string },
): Promise<boolean> {
  const found = await api.schema.dependents.query(target)
  return confirm({
    title: question.title,
    confirmLabel: question.confirmLabel,
    danger: true,
    text: (
      <>
        <p>{question.text}</p>
        {found.length > 0 && (
          <>
            <p>{m.schema_this_changes_too()}</p>
            <ul data-testid="dependents" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
              {found.slice(0, MAX_LINES).map((dependent) => (
                <li key={`${dependent.kind} ${dependent.id}`} dir="auto">
                  {lineOf(dependent)}
                </li>
              ))}
              {found.length > MAX_LINES && <li>{m.schema_and_more({ count: found.length - MAX_LINES })}</li>}
            </ul>
          </>
        )}
      </>
    ),
  })
}

function lineOf({ kind, title, tableTitle, effect, uses }: Dependent): string {
  const names = { title, table: tableTitle }
  if (kind === 'view') {
    const named = new Intl.ListFormat(localeTag(), { type: 'conjunction' }).format((uses ?? []).map(useOf))
    return m.schema_view_title_loses_it_uses({ title, uses: named })
  }
  if (effect === 'deleted') {
    return kind === 'table'
      ? m.schema_table_title_is_deleted_too(names)
      : m.schema_field_title_table_deleted_too(names)
  }
  return m.schema_field_title_table_computed_stays(names)
}

function useOf(use: NonNullable<Dependent['uses']>[number]): string {
  switch (use) {
    case 'filter':
      return m.schema_its_filter()
    case 'sort':
      return m.schema_its_order()
    case 'group':
      return m.schema_its_groups()
    case 'coloring':
      return m.schema_its_colours()
    case 'layout':
      return m.schema_its_layout()
    case 'condition':
      return m.schema_its_conditions()
  }
}
