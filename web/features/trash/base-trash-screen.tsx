import { Trash2, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import { m } from '../../messages.gen.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { api, cache, type Outputs, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Main } from '../../ui/main.tsx'
import { matches } from '../../ui/matches.ts'
import { SearchInput } from '../../ui/search-input.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import lists from '../layout/list-screen.module.css'
import styles from './trash.module.css'
import { TrashRow, TrashSkeleton, tellRestored } from './trash-row.tsx'

type TrashedBase = Outputs['trash']['bases']['bases'][number]

/** The deleted bases of which the user is an owner, to restore or delete forever. */
export function BaseTrashScreen() {
  useDocumentTitle(m.trash_deleted_bases())
  const trash = trpc.trash.bases.useQuery(undefined, { staleTime: 0 })
  const [search, setSearch] = useState('')
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const { bases, people } = trash.data ?? {}
  const found = bases?.filter(({ base }) => matches(base.title, search)) ?? []
  const chosen = found.filter(({ base }) => checked.has(base.id))
  const uncheck = () => setChecked(new Set())
  const check = (ids: readonly string[], isChecked: boolean) => {
    const next = new Set(checked)
    for (const id of ids) {
      if (isChecked) next.add(id)
      else next.delete(id)
    }
    setChecked(next)
  }
  return (
    <Main className={lists.screen}>
      <header className={lists.header}>
        <h1 className={lists.heading}>{m.trash_deleted_bases()}</h1>
      </header>
      {trash.error && !bases ? (
        <QueryError title={m.trash_load_failed()} query={trash} />
      ) : !bases ? (
        <TrashSkeleton />
      ) : bases.length === 0 ? (
        <EmptyState icon={Trash2} title={m.trash_no_deleted_bases()} text={m.trash_no_deleted_bases_hint()} />
      ) : (
        <div className={lists.panel}>
          <div className={lists.tools}>
            <SearchInput
              label={m.trash_search_bases()}
              value={search}
              onSearch={setSearch}
              className={lists.search}
            />
          </div>
          <div className={lists.tools}>
            <label className={styles.checkAll}>
              <input
                type="checkbox"
                checked={found.length > 0 && chosen.length === found.length}
                onChange={(event) =>
                  check(
                    found.map(({ base }) => base.id),
                    event.target.checked,
                  )
                }
              />
              {chosen.length === 0 ? m.trash_select_all() : m.trash_selected({ count: chosen.length })}
            </label>
            {chosen.length > 0 && (
              <>
                <Button size="small" icon={Undo2} onClick={() => void restoreBases(chosen).then(uncheck)}>
                  {m.trash_restore_selected({ count: chosen.length })}
                </Button>
                <Button
                  size="small"
                  icon={X}
                  onClick={() => void purgeBases(chosen).then((isDone) => isDone && uncheck())}
                >
                  {m.trash_delete_forever()}
                </Button>
              </>
            )}
          </div>
          {found.length === 0 ? (
            <EmptyState icon={Trash2} title={m.trash_nothing_matches()}>
              <Button onClick={() => setSearch('')}>{m.trash_clear_filters()}</Button>
            </EmptyState>
          ) : (
            <ul className={lists.list} data-testid="trash-list">
              {found.map((item) => (
                <TrashRow
                  key={item.base.id}
                  title={item.base.title}
                  icon={<BaseIcon base={item.base} size={28} />}
                  isChecked={checked.has(item.base.id)}
                  onCheck={(isChecked) => check([item.base.id], isChecked)}
                  deletedAt={item.base.deletedAt ?? ''}
                  deletedBy={people?.find(({ id }) => id === item.deletedBy)}
                  expiresAt={item.expiresAt}
                  onRestore={() => void restoreBases([item])}
                  onPurge={() => void purgeBases([item])}
                />
              ))}
            </ul>
          )}
        </div>
      )}
    </Main>
  )
}

async function restoreBases(chosen: readonly TrashedBase[]): Promise<void> {
  for (const { base } of chosen) {
    await attempt(async () => {
      const result = await api.trash.restoreBase.mutate({ baseId: base.id })
      tellRestored(m.trash_title_restored({ title: result.base.title }), result)
    })
  }
  await refresh()
}

/**
 * Deletes bases forever, after a confirmation: a single one once its name is typed, several once their number is.
 *
 * @returns false if the user has not confirmed it
 */
async function purgeBases(chosen: readonly TrashedBase[]): Promise<boolean> {
  const [only] = chosen
  const isOne = chosen.length === 1 && only !== undefined
  const agreed = await confirm({
    title: isOne
      ? m.trash_delete_title_forever_confirm({ title: only.base.title })
      : m.trash_delete_bases_forever_confirm({ count: chosen.length }),
    text: m.trash_purge_base_consequences(),
    confirmLabel: m.trash_delete_forever(),
    danger: true,
    typed: isOne ? only.base.title : String(chosen.length),
  })
  if (!agreed) return false
  let deleted = 0
  for (const { base } of chosen) {
    if (await attempt(() => api.trash.purgeBase.mutate({ baseId: base.id }))) deleted++
  }
  if (deleted > 0) toast.success({ text: m.trash_items_deleted_forever({ count: deleted }) })
  await refresh()
  return true
}

const refresh = async (): Promise<void> => {
  await Promise.all([cache.trash.bases.invalidate(), cache.bases.invalidate()])
}
