import { type FixtureRow, nurseRow, pharmacyRow } from './fixtures.ts';

/** All are active until this day, where their row says nothing else. */
const ACTIVE: FixtureRow = { BOARD_ACTION: 'No', EXPIRATION_DATE: '2027-10-31' };

const physician: FixtureRow = { ...ACTIVE, BOARD: 'Medical Board', TYPE: 'Doctor of Medicine (MD)' };
const pharmacist: FixtureRow = { ...ACTIVE, BOARD: 'Board of Pharmacy', TYPE: 'Pharmacist' };
const chiropractor: FixtureRow = { ...ACTIVE, BOARD: 'Chiropractic Board', TYPE: 'Chiropractor' };

function disciplined(subStatus: string, expires?: string): FixtureRow {
  return {
    STATUS: 'Inactive',
    SUB_STATUS: subStatus,
    BOARD_ACTION: 'Yes',
    ...(expires !== undefined && { EXPIRATION_DATE: expires }),
  };
}

const lapsedPractitioner: FixtureRow = {
  ENDORSEMENT_NUMBER_1: 'APRN.CNP.0880007',
  ENDORSEMENT_TYPE_1: 'APRN - Certified Nurse Practitioner (CNP)',
  ENDORSEMENT_STATUS_1: 'Inactive',
  ENDORSEMENT_SUB_STATUS_1: 'Lapsed',
  ENDORSEMENT_ISSUE_DATE_1: '2010-01-02',
  ENDORSEMENT_EXPIRATION_DATE_1: '2023-10-31',
};

/**
 * The fictional people of the cases that people reported: what they typed and the lists that they sent name these.
 * Rows with the columns of the fixtures, for `fixturesAnd` and `withRows`.
 */
export function casesPeople(): { individual: FixtureRow[]; business: FixtureRow[] } {
  return {
    individual: [
      nurseRow("QXXOBRIEN'S JR, ANNA-MARIA L", 'RN.880001', ACTIVE),
      nurseRow("O'QXXFALLON , SEAN P", 'RN.880002', ACTIVE),
      nurseRow('QXXSMITH-QXXJONES, MARY ANN', 'RN.880003', ACTIVE),
      nurseRow('DE LA QXXCRUZ, JOSÉ', 'RN.880004', ACTIVE),
      nurseRow('QXXMÜLLER III, JÜRGEN', '35.880005', physician),
      nurseRow('ST. QXXJOHN, ALEX', '35.880006', { ...physician, ...disciplined('Suspended') }),
      nurseRow('QXXAPRN, GRACE M', 'RN.880007', { ...ACTIVE, ...lapsedPractitioner }),
      nurseRow('QXXPHARM, LEE', '03880009', pharmacist),
      nurseRow('QXXCLOSED, REV', 'RN.880016', disciplined('Revocation', '2019-10-31')),
      nurseRow('QXXKING V, MARTIN', 'RN.880031', ACTIVE),
      nurseRow('QXXGARCIA QXXLOPEZ, MARIA', 'RN.880032', ACTIVE),
      nurseRow('QXXKING 3RD, OTTO', 'RN.880033', ACTIVE),
      nurseRow('QZKLEIN V, ODA', 'RN.998801', ACTIVE),
      nurseRow('QZKLEIN 3RD, ODA', 'RN.998802', ACTIVE),
      nurseRow('QZMORA QZVEGA, LUZ', 'RN.998803', ACTIVE),
      nurseRow('QXXCHIRO, SAM', 'DC-99010', chiropractor),
    ],
    business: [
      pharmacyRow('QXX PHARMACY #0123', '028800018', { license_expiration_date: '2027-10-31' }),
      pharmacyRow('ACME HOLDINGS LLC D.B.A QXX STAR SALON', 'COSS.880020', {
        board_name: 'Cosmetology and Barber Board',
        license_type: 'Beauty Salon',
        license_expiration_date: '2027-10-31',
      }),
    ],
  };
}
