import { Database, Plus, Search, SearchX, Trash2, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { t, tn } from '../../i18n.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { matches } from '../../ui/matches.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { SortableList } from '../../ui/sortable.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { BaseCard } from './base-card.tsx'
import { createBase, openBaseTrash, reorderBase, restoreBase } from './base-commands.tsx'
import styles from './base-list-screen.module.css'

/** All bases of the person: search, create, order, delete, restore. */
export function BaseListScreen() {
  useDocumentTitle(t('Bases'))
  const [search, setSearch] = useState('')
  const bases = trpc.bases.list.useQuery({})
  const { user, holds } = useMe()
  const canCreate = holds('org-level-creator')
  const found = bases.data?.filter((base) => matches(base.title, search))

  return (
    <Main className={styles.screen}>
      <header className={styles.header}>
        <h1 className={styles.title}>{t('Bases')}</h1>
        <div className={styles.tools}>
          <Button variant="ghost" icon={Trash2} onClick={openBaseTrash}>
            {t('Trash')}
          </Button>
          {!user && <Skeleton width={104} height={32} />}
          {canCreate && (
            <Button
              variant="primary"
              icon={Plus}
              onClick={createBase}
              data-tip={t('New base')}
              data-tip-keys={shortcutLabel('alt+d')}
            >
              {t('New base')}
            </Button>
          )}
        </div>
      </header>

      {(bases.data?.length ?? 0) > 0 && (
        <label className={styles.search}>
          <Search size={15} />
          <span className="visually-hidden">{t('Search bases')}</span>
          <input
            type="search"
            dir="auto"
            placeholder={t('Search bases')}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </label>
      )}

      {bases.error && !bases.data ? (
        <ErrorState
          title={t('Bases could not be loaded')}
          error={bases.error}
          onRetry={() => void bases.refetch()}
        />
      ) : !found ? (
        <BaseListSkeleton />
      ) : bases.data?.length === 0 ? (
        <NoBases canCreate={canCreate} />
      ) : found.length === 0 ? (
        <EmptyState icon={SearchX} title={t('No bases match “{search}”', { search })}>
          <Button onClick={() => setSearch('')}>{t('Clear search')}</Button>
        </EmptyState>
      ) : (
        <>
          <SortableList
            ids={found.map((base) => base.id)}
            layout="grid"
            disabled={search !== ''}
            onMove={(id, before) => void reorderBase(id, before)}
          >
            <ul className={styles.grid}>
              {found.map((base) => (
                <BaseCard key={base.id} base={base} />
              ))}
            </ul>
          </SortableList>
          <p className="visually-hidden" aria-live="polite">
            {tn('{n} base', '{n} bases', found.length)}
          </p>
        </>
      )}
    </Main>
  )
}

/** The page of someone without a base: what they can do about it. */
function NoBases({ canCreate }: { canCreate: boolean }) {
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  const deleted = trash.data ?? []
  const create = canCreate && (
    <Button variant="primary" icon={Plus} onClick={createBase}>
      {t('New base')}
    </Button>
  )
  if (trash.isPending) return <BaseListSkeleton />
  if (deleted.length > 0) {
    const [only] = deleted
    return (
      <EmptyState
        icon={Trash2}
        title={
          deleted.length === 1 && only
            ? t('Base “{title}” is in the trash', { title: only.title })
            : t('All your bases are in the trash')
        }
        text={
          canCreate
            ? t('Restore it with its tables and records, or create a new base.')
            : t('You can restore it with its tables and records.')
        }
      >
        {deleted.length === 1 && only ? (
          <Button icon={Undo2} onClick={() => void restoreBase(only)}>
            {t('Restore “{title}”', { title: only.title })}
          </Button>
        ) : (
          <Button icon={Undo2} onClick={openBaseTrash}>
            {t('Open the trash')}
          </Button>
        )}
        {create}
      </EmptyState>
    )
  }
  if (canCreate) {
    return (
      <EmptyState
        icon={Database}
        title={t('Create your first base')}
        text={t('A base holds related tables, such as everything about one project.')}
      >
        {create}
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={Database}
      title={t('No bases yet')}
      text={t('Ask a base owner to invite you, or to restore a base that was deleted.')}
    />
  )
}

function BaseListSkeleton() {
  return (
    <ul className={styles.grid} aria-busy="true" aria-label={t('Loading')}>
      {[1, 2, 3].map((n) => (
        <li key={n} className={styles.skeleton}>
          <Skeleton width={40} height={40} />
          <div className={styles.skeletonText}>
            <Skeleton width="60%" />
            <Skeleton width="40%" height={11} />
          </div>
        </li>
      ))}
    </ul>
  )
}
