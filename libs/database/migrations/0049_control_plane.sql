-- The control plane is a program of its own beside billing, under the same role.
ALTER TABLE program_reports DROP CONSTRAINT program_reports_program_check;
ALTER TABLE program_reports ADD CONSTRAINT program_reports_program_check
  CHECK (program IN ('gateway', 'worker', 'billing', 'control-plane'));
DROP POLICY of_billing ON program_reports;
CREATE POLICY of_billing ON program_reports TO tollgate_billing
  USING (program IN ('billing', 'control-plane')) WITH CHECK (program IN ('billing', 'control-plane'));
