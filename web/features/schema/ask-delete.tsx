import { localeTag, t, tn } from '../../i18n.ts'
import { api, type Outputs } from '../../trpc.ts'
import { confirm } from '../../ui/confirm.tsx'

type Dependent = Outputs['schema']['dependents'][number]

/** Lines of the list; of more, their number is told. */
const MAX_LINES = 12

/**
 * Asks before a field or table is deleted, naming what goes with it and what stops working.
 *
 * @throws what the server refused with
 */
export async function askDelete(
  what: { fieldId: string } | { tableId: string },
  question: { title: string; text: string; confirmLabel: string },
): Promise<boolean> {
  const found = await api.schema.dependents.query(what)
  return confirm({
    title: question.title,
    confirmLabel: question.confirmLabel,
    danger: true,
    text: (
      <>
        <p>{question.text}</p>
        {found.length > 0 && (
          <>
            <p>{t('This changes too:')}</p>
            <ul data-testid="dependents" style={{ listStyle: 'disc', paddingInlineStart: 20 }}>
              {found.slice(0, MAX_LINES).map((dependent) => (
                <li key={`${dependent.kind} ${dependent.id}`} dir="auto">
                  {lineOf(dependent)}
                </li>
              ))}
              {found.length > MAX_LINES && (
                <li>{tn('and 1 more', 'and {n} more', found.length - MAX_LINES)}</li>
              )}
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
    return t('view "{title}" loses it: {uses}', { title, uses: named })
  }
  if (effect === 'deleted') {
    return kind === 'table'
      ? t('table "{title}" is deleted too', names)
      : t('field "{title}" of {table} is deleted too', names)
  }
  return t('field "{title}" of {table} is computed from it and stays empty', names)
}

/** What a view needs a field for, in words. */
function useOf(use: NonNullable<Dependent['uses']>[number]): string {
  switch (use) {
    case 'filter':
      return t('its filter')
    case 'sort':
      return t('its order')
    case 'group':
      return t('its groups')
    case 'coloring':
      return t('its colours')
    case 'layout':
      return t('its layout')
    case 'condition':
      return t('its conditions')
  }
}
