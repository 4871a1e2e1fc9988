import { Link } from 'lucide-react'
import { linkToAnotherRecord } from '../../src/core/fields/link-to-another-record.ts'
import { linksCell } from './links-cell.tsx'

/** A link whose records programs get whole. */
export const linkToAnotherRecordCell = linksCell(linkToAnotherRecord, Link)
