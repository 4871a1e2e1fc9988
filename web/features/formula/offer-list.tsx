import { SquareFunction } from 'lucide-react'
import { CELLS } from '../../cells/index.ts'
import { m } from '../../messages.gen.ts'
import { Option } from '../../ui/composite.tsx'
import styles from './formula.module.css'
import type { Offer } from './offers.ts'

interface OfferListProps {
  id: string
  offers: readonly Offer[]
  active: Offer | undefined
  /** True while a word is being written: Enter takes the active one. */
  isCompleting: boolean
  onActive: (offer: Offer) => void
  onChoose: (offer: Offer) => void
}

/** Id of an offer's line, for the input that it belongs to. */
export const offerId = (listId: string, { kind, name }: Offer): string => `${listId}-${kind}-${name}`

/** Fields and functions that can be put into the formula. */
export function OfferList({ id, offers, active, isCompleting, onActive, onChoose }: OfferListProps) {
  return (
    <div id={id} role="listbox" aria-label={m.formula_fields_and_functions()} className={styles.offers}>
      {offers.map((offer) => {
        const Icon = offer.kind === 'field' ? CELLS[offer.field.type].Icon : SquareFunction
        return (
          <Option
            key={offerId(id, offer)}
            id={offerId(id, offer)}
            isActive={offer === active}
            aria-selected={offer === active}
            data-active={offer === active || undefined}
            data-completing={(offer === active && isCompleting) || undefined}
            data-testid="formula-offer"
            className={styles.offer}
            // The caret stays where it is.
            onPointerDown={(event) => event.preventDefault()}
            onPointerMove={() => offer !== active && onActive(offer)}
            onClick={() => onChoose(offer)}
          >
            <Icon size={14} aria-hidden />
            <span className={styles.offerName} data-kind={offer.kind} dir="auto">
              {offer.name}
            </span>
          </Option>
        )
      })}
      {offers.length === 0 && <p className={styles.none}>{m.formula_no_matching_fields_or_functions()}</p>}
    </div>
  )
}
